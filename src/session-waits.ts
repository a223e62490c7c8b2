/** Clients that wait for a session to become final, woken by NOTIFY over one connection of the process. */
import { sessionChannel } from '../db/session-states.ts';
import { isDatabaseAway, openConnection } from '../db/database.ts';
import type { Log } from './log.ts';

const reconnectMs = 1_000;
/** A notification that was lost (a broken connection) is found by looking again after this long. */
const recheckMs = 5_000;

export class SessionWaits {
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #url: string;
  readonly #log: Log;
  #connection: ReturnType<typeof openConnection> | undefined;
  #reconnect: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(url: string, log: Log) {
    this.#url = url;
    this.#log = log;
  }

  async start(): Promise<void> {
    const connection = openConnection(this.#url);
    this.#connection = connection;
    connection.on('notification', ({ payload }) => this.#wake(payload ?? ''));
    connection.on('error', (error) => this.#log.warn({ err: error }, 'the listening connection broke'));
    connection.on('end', () => this.#startAgain());
    try {
      await connection.connect();
      await connection.query(`listen ${sessionChannel}`);
      for (const sessionId of [...this.#waiting.keys()]) this.#wake(sessionId);
    } catch (error) {
      this.#log.warn({ err: error }, 'can not listen for finished sessions');
      await connection.end().catch(() => {});
      this.#startAgain();
    }
  }

  /**
   * Reads something about a session until `isDone` says it is what the client waits for, the time is over, or `signal`
   * aborts; answers what was read last. While the database is away in between, it waits on.
   *
   * @param seconds how long to wait
   * @throws what the first reading throws, or one that fails when the time is over
   */
  async until<T>(
    sessionId: string,
    seconds: number,
    signal: AbortSignal,
    read: () => Promise<T>,
    isDone: (value: T) => boolean,
  ): Promise<T> {
    const deadline = performance.now() + seconds * 1000;
    let last: { value: T } | undefined;
    for (;;) {
      // Registered before reading, so that what happens in between still wakes us.
      const woken = this.#register(sessionId);
      try {
        last = await again(read, last, deadline);
        const left = deadline - performance.now();
        if (isDone(last.value) || left <= 0 || signal.aborted) return last.value;
        await woken.orAfter(Math.min(left, recheckMs), signal);
        if (signal.aborted) return last.value;
      } finally {
        woken.unregister();
      }
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#reconnect);
    await this.#connection?.end().catch(() => {});
  }

  #startAgain(): void {
    if (this.#stopped) return;
    clearTimeout(this.#reconnect);
    this.#reconnect = setTimeout(() => void this.start(), reconnectMs);
  }

  #wake(sessionId: string): void {
    for (const wake of this.#waiting.get(sessionId) ?? []) wake();
  }

  #register(sessionId: string) {
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiters = this.#waiting.get(sessionId) ?? new Set();
    this.#waiting.set(sessionId, waiters.add(resolve));
    return {
      orAfter: async (ms: number, signal: AbortSignal) => {
        const timer = setTimeout(resolve, ms);
        const wake = () => resolve();
        signal.addEventListener('abort', wake);
        await promise;
        signal.removeEventListener('abort', wake);
        clearTimeout(timer);
      },
      unregister: () => {
        waiters.delete(resolve);
        if (waiters.size === 0) this.#waiting.delete(sessionId);
      },
    };
  }
}

async function again<T>(
  read: () => Promise<T>,
  last: { value: T } | undefined,
  deadline: number,
): Promise<{ value: T }> {
  try {
    return { value: await read() };
  } catch (error) {
    if (last === undefined || performance.now() >= deadline || !isDatabaseAway(error)) throw error;
    return last;
  }
}
