/**
 * Runs a limited number of works at once, for many accounts. Accounts take turns, and none of them ever holds all
 * places.
 */
export interface TurnLimits {
  /** How many works run at once, over all accounts. */
  atOnce: number;
  /** How many works of one account run at once. Fewer than all, so that there is always a place for another account. */
  each: number;
  /** In ms. A work that runs longer gives its place to others and goes on. It still counts for its account. */
  patienceMs?: number;
}

interface Account {
  running: number;
  /** First come, first served. */
  waiting: (() => void)[];
}

export class FairTurns {
  /** Accounts with works that wait or run. The account whose last turn is longest ago comes first. */
  readonly #accounts = new Map<string, Account>();
  readonly #limits: TurnLimits;
  #places = 0;

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /**
   * Runs `work` when it is this account's turn.
   *
   * @param signal leaves the queue while it waits
   * @throws the reason of `signal`
   */
  async run<Result>(accountId: string, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    signal?.throwIfAborted();
    const account = this.#accounts.get(accountId) ?? { running: 0, waiting: [] };
    this.#accounts.set(accountId, account);
    const turn = Promise.withResolvers<void>();
    account.waiting.push(turn.resolve);
    const leave = () => {
      const place = account.waiting.indexOf(turn.resolve);
      if (place < 0) return;
      account.waiting.splice(place, 1);
      this.#forgetIdle(accountId, account);
      turn.reject(signal!.reason);
    };
    signal?.addEventListener('abort', leave, { once: true });
    this.#begin();
    await turn.promise.finally(() => signal?.removeEventListener('abort', leave));

    let holdsPlace = true;
    const givePlace = () => {
      if (holdsPlace) this.#places -= 1;
      holdsPlace = false;
      this.#begin();
    };
    const { patienceMs } = this.#limits;
    const timer = patienceMs === undefined ? undefined : setTimeout(givePlace, patienceMs);
    try {
      return await work();
    } finally {
      clearTimeout(timer);
      account.running -= 1;
      this.#forgetIdle(accountId, account);
      givePlace();
    }
  }

  #forgetIdle(accountId: string, account: Account): void {
    if (account.running === 0 && account.waiting.length === 0) this.#accounts.delete(accountId);
  }

  #begin(): void {
    // An account that gets a turn moves to the end, where this loop meets it again.
    for (const [accountId, account] of this.#accounts) {
      if (this.#places >= this.#limits.atOnce) return;
      if (account.running >= this.#limits.each) continue;
      const start = account.waiting.shift();
      if (start === undefined) continue;
      this.#accounts.delete(accountId);
      this.#accounts.set(accountId, account);
      account.running += 1;
      this.#places += 1;
      start();
    }
  }
}
