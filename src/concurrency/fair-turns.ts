/**
 * Runs a limited number of works at once, for many accounts. Accounts take turns by start-time fair queueing: an account
 * that comes while others wait is next, however much they have waiting, and one that comes again and again gets no more
 * turns than they do.
 */
export interface TurnLimits {
  /** How many works run at once, over all accounts. */
  atOnce: number;
  /** How many works of one account run at once. Fewer than all, so that there is always a place for another account; all without it. */
  each?: number;
  /** In ms. A work that runs longer gives its place to others and goes on. It still counts for its account. */
  patienceMs?: number;
}

interface Account {
  running: number;
  /** First come, first served. */
  waiting: (() => void)[];
  /** The number of its next turn. The lowest number comes first, and of equal ones the account that came first. */
  nextTurn: number;
}

export class FairTurns {
  /** Accounts with works that wait or run, or with a turn ahead of the others. */
  readonly #accounts = new Map<string, Account>();
  readonly #limits: TurnLimits;
  #places = 0;
  /** The highest number of a turn that has begun. */
  #turn = 0;

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
    const account = this.#accounts.get(accountId) ?? { running: 0, waiting: [], nextTurn: this.#turn };
    this.#accounts.set(accountId, account);
    // Turns that it left to others are not made up for.
    if (account.waiting.length === 0) account.nextTurn = Math.max(account.nextTurn, this.#turn);
    const turn = Promise.withResolvers<void>();
    account.waiting.push(turn.resolve);
    const leave = () => {
      const place = account.waiting.indexOf(turn.resolve);
      if (place < 0) return;
      account.waiting.splice(place, 1);
      this.#forgetIdle();
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
      givePlace();
      this.#forgetIdle();
    }
  }

  /** An account that has had its turn before the others is remembered until they have had theirs. */
  #forgetIdle(): void {
    const accounts = [...this.#accounts];
    const isIdle = ({ running, waiting }: Account) => running === 0 && waiting.length === 0;
    const areAllIdle = accounts.every(([, account]) => isIdle(account));
    for (const [accountId, account] of accounts)
      if (isIdle(account) && (areAllIdle || account.nextTurn <= this.#turn)) this.#accounts.delete(accountId);
  }

  #begin(): void {
    while (this.#places < this.#limits.atOnce) {
      const account = this.#next();
      if (account === undefined) return;
      this.#turn = Math.max(this.#turn, account.nextTurn);
      account.nextTurn += 1;
      account.running += 1;
      this.#places += 1;
      account.waiting.shift()!();
    }
  }

  #next(): Account | undefined {
    let next: Account | undefined;
    for (const account of this.#accounts.values()) {
      const mayBegin = account.waiting.length > 0 && account.running < (this.#limits.each ?? Infinity);
      if (mayBegin && (next === undefined || account.nextTurn < next.nextTurn)) next = account;
    }
    return next;
  }
}
