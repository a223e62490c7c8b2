/** Spends the allowances of accounts. Requests of an account that come while one is counted are counted together after it, each exactly. */
import { countRequests } from '../../../db/accounts/allowance.ts';
import { withTimeout } from '../../concurrency/with-timeout.ts';
import { ApiError } from '../answers/problem.ts';
import type { AllowanceWindow } from '../../../db/accounts/allowance.ts';
import type { Db } from '../../../db/connection/database.ts';
import type { KeyOwner } from '../../../db/accounts/api-keys.ts';
import type { Response } from '../response.ts';

const patienceMs = 1_000;

export type Counted = Awaited<ReturnType<Allowances['count']>>;

/** Requests that one statement counts, or will. */
interface Together {
  wanted: number;
  window: Promise<AllowanceWindow>;
}

export class Allowances {
  readonly #db: Db;
  /** By account and allowance, since one process may know of a new limit before another. Those that still take more. */
  readonly #next = new Map<string, Together>();
  /** Those that are being counted. */
  readonly #running = new Map<string, Promise<unknown>>();
  /** Accounts whose last request was refused. */
  readonly #usedUp = new Set<string>();

  constructor(db: Db) {
    this.#db = db;
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

  /**
   * Counts a request, if it is admitted. Every process may count at the same time.
   * @param allowance requests per minute
   * @returns how many more this window has room for, and the seconds until it ends, 1 to 60
   */
  async count(accountId: string, allowance: number) {
    const name = `${accountId}/${allowance}`;
    const together = this.#next.get(name) ?? this.#gather(name, accountId, allowance);
    together.wanted += 1;
    const place = together.wanted;
    const { room, endsInSeconds } = await together.window;
    const isAdmitted = place <= room;
    if (isAdmitted) this.#usedUp.delete(accountId);
    else this.#usedUp.add(accountId);
    return { isAdmitted, remaining: Math.max(0, room - place), endsInSeconds };
  }

  #gather(name: string, accountId: string, allowance: number): Together {
    const count = async () => {
      const before = this.#running.get(name);
      // Its connection may lead to a server that does not answer.
      if (before !== undefined) await withTimeout(before, patienceMs, undefined);
      this.#next.delete(name);
      const counting = countRequests(this.#db, { accountId, allowance, wanted: together.wanted });
      const done = counting.catch(() => {});
      this.#running.set(name, done);
      void done.then(() => this.#running.get(name) === done && this.#running.delete(name));
      return counting;
    };
    const together: Together = { wanted: 0, window: Promise.resolve().then(count) };
    this.#next.set(name, together);
    return together;
  }
}
