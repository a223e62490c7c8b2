import pg from 'pg';

type Callback = Parameters<pg.Pool['connect']>[0];

/** A pool that counts who had to wait because all of its connections were in use. */
export class CountingPool extends pg.Pool {
  waits = 0;
  waitedMs = 0;

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Callback): void;
  override connect(callback?: Callback): Promise<pg.PoolClient> | void {
    const hasToWait = this.totalCount >= this.options.max && this.idleCount <= this.waitingCount;
    const told = hasToWait ? this.#waiting() : undefined;
    if (callback === undefined) {
      const connection = super.connect();
      return told === undefined ? connection : connection.finally(told);
    }
    super.connect((error, client, done) => {
      told?.();
      callback(error, client, done);
    });
  }

  /** @returns call it when the waiting is over */
  #waiting(): () => void {
    const began = performance.now();
    this.waits += 1;
    return () => void (this.waitedMs += performance.now() - began);
  }
}

/** How a pool is used at this moment, and who has waited until now. */
export interface PoolUse {
  inUse: number;
  idle: number;
  most: number;
  waiting: number;
  waits: number;
  waitedMs: number;
}

export function useOf(pool: CountingPool): PoolUse {
  const { totalCount, idleCount, waitingCount, waits, waitedMs, options } = pool;
  // One that is idle and spoken for already is still counted as idle, and whoever gets it as waiting, until the next tick.
  return { inUse: totalCount - idleCount, idle: idleCount, most: options.max, waiting: waitingCount, waits, waitedMs };
}
