/** Requests counted against the allowances of their accounts, many in one statement and each exactly. */
import { countRequest, countRequestsThatFit } from '../db/allowance.ts';
import { Batches } from './batches.ts';
import type { AllowanceWindow } from '../db/allowance.ts';
import type { Db } from '../db/database.ts';

/** Few of each: whoever reads something else always finds a connection. */
const limits = { maxEntries: 16, maxAtOnce: 2 };

/** Requests of one account. */
interface Asked {
  accountId: string;
  allowance: number;
  requests: PromiseWithResolvers<AllowanceWindow>[];
}

export class RequestCounts {
  readonly #db: Db;
  readonly #asked = new Batches<Asked>((batch) => this.#countTogether(batch), limits);

  constructor(db: Db) {
    this.#db = db;
  }

  /** As {@link countRequest}, with which every process may count at the same time. @param allowance requests per window */
  count(accountId: string, allowance: number): Promise<AllowanceWindow> {
    const asked = this.#asked.entry(accountId, () => ({ accountId, allowance, requests: [] }));
    // Of two requests, one may know of a new limit that the other does not.
    if (asked.allowance !== allowance) return countRequest(this.#db, accountId, allowance);
    const request = Promise.withResolvers<AllowanceWindow>();
    asked.requests.push(request);
    return request.promise;
  }

  async #countTogether(batch: Asked[]): Promise<void> {
    try {
      const asked = batch.map(({ accountId, allowance, requests: { length: wanted } }) => {
        return { accountId, allowance, wanted };
      });
      const counted = await countRequestsThatFit(this.#db, asked);
      for (const { accountId, allowance, requests } of batch) {
        const { used, endsInSeconds } = counted.get(accountId) ?? {};
        // The last of them is told what is left after all of them, the first what was left after itself.
        let remaining = allowance - used! + requests.length;
        for (const { resolve } of requests) {
          if (used === undefined) resolve(countRequest(this.#db, accountId, allowance));
          else resolve({ admitted: true, remaining: (remaining -= 1), endsInSeconds: endsInSeconds! });
        }
      }
    } catch (error) {
      for (const { requests } of batch) for (const { reject } of requests) reject(error);
    }
  }
}
