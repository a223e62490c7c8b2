/** Two statements about one account in one exchange: a request is counted, and what it asks for is read. */
import type { NamedStatement } from './exchange.ts';

export interface HowToRun {
  isRead: boolean;
  /** Of the account that the statement is about, if that is a single one. */
  accountId: string | undefined;
  /** Whether it waits for a second one about the account. */
  leads: boolean;
}

/** Runs statements as one transaction, and returns the rows of each. */
type Run = (statements: readonly NamedStatement[]) => Promise<unknown[][]>;

interface Asked extends PromiseWithResolvers<unknown[]> {
  statement: NamedStatement;
}

interface Line {
  leading: Asked;
  following: Asked | undefined;
}

export class Lines {
  readonly #run: Run;
  readonly #isRolledBack: (error: unknown) => boolean;
  /** What goes out when this turn of the event loop is over. */
  #lines: Line[] = [];
  /** The last line of each account. */
  #last = new Map<string, Line>();

  /** @param isRolledBack whether a failure says that none of the statements has had an effect */
  constructor(run: Run, isRolledBack: (error: unknown) => boolean) {
    this.#run = run;
    this.#isRolledBack = isRolledBack;
  }

  /** Runs a statement that waits for a second one until this turn of the event loop is over. */
  lead(accountId: string, statement: NamedStatement): Promise<unknown[]> {
    if (this.#lines.length === 0) setImmediate(() => this.#sendAll());
    const leading = { statement, ...Promise.withResolvers<unknown[]>() };
    const line = { leading, following: undefined };
    this.#lines.push(line);
    this.#last.set(accountId, line);
    return leading.promise;
  }

  /** Whether a statement about this account waits for a second one, and may have it. */
  hasSeat(accountId: string): boolean {
    const line = this.#last.get(accountId);
    return line !== undefined && line.following === undefined;
  }

  /** Runs a statement as the second one, or alone when none waits for it. It must only read, since it may be run again. */
  async follow(accountId: string, statement: NamedStatement): Promise<unknown[]> {
    if (!this.hasSeat(accountId)) return (await this.#run([statement]))[0]!;
    const following = { statement, ...Promise.withResolvers<unknown[]>() };
    this.#last.get(accountId)!.following = following;
    return following.promise;
  }

  #sendAll(): void {
    const lines = this.#lines;
    this.#lines = [];
    this.#last = new Map();
    for (const line of lines) void this.#send(line);
  }

  async #send({ leading, following }: Line): Promise<void> {
    try {
      // What leads may lock a row until the transaction ends, so it runs last.
      const asked = following === undefined ? [leading] : [following, leading];
      const answers = await this.#run(asked.map(({ statement }) => statement));
      for (const [at, { resolve }] of asked.entries()) resolve(answers[at]!);
    } catch (error) {
      following?.reject(error);
      // Which of the two it was is not known.
      if (following !== undefined && this.#isRolledBack(error)) void this.#send({ leading, following: undefined });
      else leading.reject(error);
    }
  }
}
