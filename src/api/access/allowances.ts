/** Spends the allowances of accounts: the requests of a moment by one statement, and each of them exactly. */
import { countRequests } from '../../../db/accounts/allowance.ts';
import { ApiError } from '../answers/problem.ts';
import { Loader } from '../loader.ts';
import type { Db } from '../../../db/connection/database.ts';
import type { KeyOwner } from '../../../db/accounts/api-keys.ts';
import type { Response } from '../response.ts';

/** Few at once: whoever reads something else always finds a connection. */
const limits = { maxBatchSize: 200, maxAtOnce: 2, accountOf: ({ accountId }: Asked) => accountId };

/** A request. */
interface Asked {
  accountId: string;
  /** Requests per minute. */
  allowance: number;
}

export interface Counted {
  /** Only admitted requests are counted. */
  isAdmitted: boolean;
  /** Requests that this window still has room for. */
  remaining: number;
  /** Seconds until the window ends, 1 to 60. */
  endsInSeconds: number;
}

export class Allowances {
  readonly #counts: Loader<Asked, Counted | undefined>;
  /** Accounts whose last request was refused. */
  readonly #usedUp = new Set<string>();

  constructor(db: Db) {
    this.#counts = new Loader((requests) => countTogether(db, requests), limits);
  }

  /**
   * Counts a request, and tells its client what is left.
   *
   * @throws {ApiError} 429 `rate_limited`
   */
  async spend({ account_id: accountId, requests_per_minute: allowance }: KeyOwner, res: Response): Promise<void> {
    const { isAdmitted, remaining, endsInSeconds } = await this.count(accountId, allowance);
    res.setHeader('RateLimit-Policy', `"plan";q=${allowance};w=60`);
    res.setHeader('RateLimit', `"plan";r=${remaining};t=${endsInSeconds}`);
    if (!isAdmitted) {
      throw new ApiError(429, 'rate_limited', `The allowance of ${allowance} requests per minute is used up.`, {
        retryAfterSeconds: endsInSeconds,
      });
    }
  }

  /** Whether the account's next request will probably be refused, so that nothing should be read for it yet. */
  isUsedUp({ account_id: accountId }: KeyOwner): boolean {
    return this.#usedUp.has(accountId);
  }

  /** Counts a request. Every process may count at the same time. @param allowance requests per minute */
  async count(accountId: string, allowance: number): Promise<Counted> {
    let counted: Counted | undefined;
    while (counted === undefined) counted = await this.#counts.load({ accountId, allowance });
    if (counted.isAdmitted) this.#usedUp.delete(accountId);
    else this.#usedUp.add(accountId);
    return counted;
  }
}

/**
 * @returns undefined for a request that has to ask again: of two requests of an account, one may know of a new limit,
 *   and the other not yet, and a statement counts by one limit
 */
async function countTogether(db: Db, requests: readonly Asked[]): Promise<(Counted | undefined)[]> {
  const spendings = new Map<string, Asked & { wanted: number }>();
  for (const { accountId, allowance } of requests) {
    const spending = spendings.get(accountId) ?? { accountId, allowance, wanted: 0 };
    if (spending.allowance === allowance) spending.wanted += 1;
    spendings.set(accountId, spending);
  }
  const windows = await countRequests(db, [...spendings.values()]);
  return requests.map(({ accountId, allowance }) => {
    if (spendings.get(accountId)!.allowance !== allowance) return undefined;
    const window = windows.get(accountId)!;
    window.room -= 1;
    const { room, endsInSeconds } = window;
    return { isAdmitted: room >= 0, remaining: Math.max(0, room), endsInSeconds };
  });
}
