import { isDatabaseAway } from '../../../db/database-errors.ts';
import { Batches } from '../batches.ts';
import type { BatchLimits } from '../batches.ts';

interface Asked<Question, Answer> extends PromiseWithResolvers<Answer> {
  question: Question;
}

/**
 * Reads of one kind, many in one statement (see {@link Batches}). Equal questions of the same moment share one answer.
 */
export class GatheredReads<Question, Answer> {
  readonly #batches: Batches<Asked<Question, Answer>>;
  readonly #keyOf: (question: Question) => string;

  /**
   * @param read answers questions, in their order
   * @param keyOf gives equal questions the same key. The key names the account, so no answer is ever shared between
   *   accounts
   * @param limits see {@link Batches}
   */
  constructor(
    read: (questions: Question[]) => Promise<Answer[]>,
    keyOf: (question: Question) => string,
    { accountOf, ...limits }: BatchLimits<Question>,
  ) {
    this.#keyOf = keyOf;
    const owner = ({ question }: Asked<Question, Answer>) => accountOf(question);
    this.#batches = new Batches((asked) => answer(read, asked), { ...limits, accountOf: owner });
  }

  /** The answer as it is after this call. */
  find(question: Question): Promise<Answer> {
    const ask = () => ({ question, ...Promise.withResolvers<Answer>() });
    return this.#batches.entry(this.#keyOf(question), ask).promise;
  }
}

async function answer<Question, Answer>(
  read: (questions: Question[]) => Promise<Answer[]>,
  asked: readonly Asked<Question, Answer>[],
): Promise<void> {
  try {
    const answers = await read(asked.map(({ question }) => question));
    asked.forEach(({ resolve }, index) => resolve(answers[index]!));
  } catch (error) {
    if (asked.length === 1 || isDatabaseAway(error)) for (const { reject } of asked) reject(error);
    // Asked one by one: when one account's rows can't be read, other accounts still get their answers.
    else for (const one of asked) await answer(read, [one]);
  }
}
