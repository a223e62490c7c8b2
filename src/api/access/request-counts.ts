/** Counts requests against the allowances of their accounts: many in one statement, and each of them exactly. */
import { countFurtherRequest, countRequest, countRequestsThatFit } from '../../../db/allowance.ts';
import { Batches } from '../batches.ts';
import type { AllowanceWindow, FittingCount } from '../../../db/allowance.ts';
import type { Db } from '../../../db/database.ts';

/** Few of each: whoever reads something else always finds a connection. */
const limits = { maxEntries: 16, maxAtOnce: 2, accountOf: ({ accountId }: Asked) => accountId };
/** Requests that are counted by a statement each. More than these are a crowd. */
const mostAlone = 4;

/** Requests of one account. */
interface Asked {
  accountId: string;
  allowance: number;
  requests: PromiseWithResolvers<AllowanceWindow>[];
}

export class RequestCounts {
  readonly #db: Db;
  readonly #asked = new Batches<Asked>((batch) => this.#countTogether(batch), limits);
  #alone = 0;
  /** Whether more than one request was in the batch that was counted last. */
  #isCrowded = false;
  /** Accounts that were counted in this window, as far as this process knows. */
  #begun = new Set<string>();
  /** Accounts whose allowance of this window was found used up. */
  #refused = new Set<string>();
  /** Set while there are accounts of either kind. The windows of all accounts end together. */
  #windowEnd: NodeJS.Timeout | undefined;

  constructor(db: Db) {
    this.#db = db;
  }

  /** As {@link countRequest}, with which every process may count at the same time. @param allowance requests per window */
  count(accountId: string, allowance: number): Promise<AllowanceWindow> {
    if (this.countsAlone(accountId)) return this.#countAlone(accountId, allowance);
    const asked = this.#asked.entry(accountId, () => ({ accountId, allowance, requests: [] }));
    // One of two requests may know of a new limit, and the other not yet.
    if (asked.allowance !== allowance) return countRequest(this.#db, accountId, allowance);
    const request = Promise.withResolvers<AllowanceWindow>();
    asked.requests.push(request);
    return request.promise;
  }

  /**
   * Whether a request that is counted now is counted alone, so that what it asks for can be read meanwhile. Not in a crowd:
   * those that are counted together are read together afterwards, by fewer statements. Not for an account that was refused
   * in this window: the next request probably is too, and has cost a count then and nothing else.
   */
  countsAlone(accountId: string): boolean {
    const isAlone = this.#alone < mostAlone && !this.#isCrowded && this.#asked.isIdle;
    return isAlone && !this.#refused.has(accountId);
  }

  async #countAlone(accountId: string, allowance: number): Promise<AllowanceWindow> {
    this.#alone += 1;
    try {
      if (this.#begun.has(accountId)) {
        const count = await countFurtherRequest(this.#db, accountId, allowance);
        if (count !== undefined) {
          return { admitted: true, remaining: allowance - count.used, endsInSeconds: count.endsInSeconds };
        }
      }
      // The account's window has to begin, or is full.
      const answer = await countRequest(this.#db, accountId, allowance);
      this.#remember(accountId, answer);
      return answer;
    } finally {
      this.#alone -= 1;
    }
  }

  #remember(accountId: string, { admitted, endsInSeconds }: AllowanceWindow): void {
    (admitted ? this.#begun : this.#refused).add(accountId);
    this.#windowEnd ??= setTimeout(() => {
      this.#begun = new Set();
      this.#refused = new Set();
      this.#windowEnd = undefined;
    }, endsInSeconds * 1000).unref();
  }

  async #countTogether(batch: Asked[]): Promise<void> {
    this.#isCrowded = batch.length > 1 || batch[0]!.requests.length > 1;
    try {
      const wanted = batch.map(({ accountId, allowance, requests }) => {
        return { accountId, allowance, wanted: requests.length };
      });
      const counted = await countRequestsThatFit(this.#db, wanted);
      const tooMany: Asked[] = [];
      for (const asked of batch) {
        const count = counted.get(asked.accountId);
        if (count === undefined) tooMany.push(asked);
        else admitAll(asked, count);
      }
      for (const asked of tooMany) await this.#countOneByOne(asked);
    } catch (error) {
      for (const { requests } of batch) for (const { reject } of requests) reject(error);
    }
  }

  /** One after the other: otherwise an account beyond its allowance would take every connection of the pool. */
  async #countOneByOne({ accountId, allowance, requests }: Asked): Promise<void> {
    let refusal: AllowanceWindow | undefined;
    for (const { resolve } of requests) {
      const answer = refusal ?? (await countRequest(this.#db, accountId, allowance));
      // Its window was full when all of them had been asked for.
      if (!answer.admitted) refusal = answer;
      resolve(answer);
    }
    if (refusal !== undefined) this.#remember(accountId, refusal);
  }
}

function admitAll({ allowance, requests }: Asked, { used, endsInSeconds }: FittingCount): void {
  // The first request is told what was left after itself, the last one what is left after all of them.
  let remaining = allowance - used + requests.length;
  for (const { resolve } of requests) resolve({ admitted: true, remaining: (remaining -= 1), endsInSeconds });
}
