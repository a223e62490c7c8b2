/** Clients that wait until a session is final: thousands of them, over one listening connection of the process. */
import { isDatabaseUnavailable } from '../../../db/connection/database-errors.ts';
import { whichAreUnfinished } from '../../../db/sessions/sessions.ts';
import { ApiError } from '../answers/problem.ts';
import { isFinal } from '../../sessions/view.ts';
import { openConnection, refuseReadOnly } from '../../../db/connection/database.ts';
import { sessionChannel } from '../../../db/sessions/states.ts';
import type { Db } from '../../../db/connection/database.ts';
import type { PublicSession } from '../../../db/sessions/sessions.ts';
import type { Log } from '../../ops/log.ts';
import type { SessionReads } from './session-reads.ts';

/** How often all sessions that are waited for are looked at. This finds those whose notification was lost. */
const recheckMs = 5_000;

const reconnectMs = 1_000;
/**
 * How often the server is asked whether it was demoted. A demoted server does not break the connection, but no session
 * ends there any more.
 */
const pollIntervalMs = 5_000;

type Connection = ReturnType<typeof openConnection>;

export class SessionWaits {
  /** Wake those who wait for a session. */
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #db: Db;
  readonly #reads: SessionReads;
  readonly #url: string;
  readonly #log: Log;
  #rechecking: NodeJS.Timeout | undefined;
  #connection: Connection | undefined;
  #reconnect: NodeJS.Timeout | undefined;
  #looking: NodeJS.Timeout | undefined;
  #stopped = false;

  /** @param url of the database, to listen */
  constructor(db: Db, reads: SessionReads, url: string, log: Log) {
    this.#db = db;
    this.#reads = reads;
    this.#url = url;
    this.#log = log;
  }

  /** Listens for sessions that have ended, until `stop`. A connection that breaks is replaced. */
  async start(): Promise<void> {
    const connection = openConnection(this.#url, { longestSilenceMs: 2 * pollIntervalMs });
    this.#connection = connection;
    connection.on('notification', ({ payload }) => this.#wake(payload ?? ''));
    connection.on('error', (error) => this.#log.warn({ err: error }, 'the listening connection broke'));
    connection.on('end', () => this.#startAgain());
    try {
      await connection.connect();
      await refuseReadOnly(connection);
      await connection.query(`listen ${sessionChannel}`);
      this.#looking = setInterval(() => void this.#look(connection), pollIntervalMs);
      // Of those that ended before, nothing was heard.
      void this.#recheck();
    } catch (error) {
      this.#log.warn({ err: error }, 'can not listen for finished sessions');
      await connection.end().catch(() => {});
      this.#startAgain();
    }
  }

  /** Looks whether the connection still leads to a server that takes writes. A connection that ends is replaced. */
  async #look(connection: Connection): Promise<void> {
    await refuseReadOnly(connection).catch(async (error: unknown) => {
      this.#log.warn({ err: error }, 'the listening connection leads to the wrong server, or nowhere');
      await connection.end().catch(() => {});
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#reconnect);
    clearInterval(this.#looking);
    await this.#connection?.end().catch(() => {});
  }

  #startAgain(): void {
    clearInterval(this.#looking);
    if (this.#stopped) return;
    clearTimeout(this.#reconnect);
    this.#reconnect = setTimeout(() => void this.start(), reconnectMs);
  }

  /**
   * The session of an account when it is final, or as it is when the time is over or `signal` aborts. Undefined at once
   * when the account has no such session. While the database is away, it waits on.
   *
   * @param sessionId in lower case
   * @param seconds how long to wait
   * @throws what the first reading throws, or a reading that fails when the time is over
   * @throws {ApiError} the reason of `signal`: the client may not hear of the session any more
   */
  async untilFinal(
    accountId: string,
    sessionId: string,
    seconds: number,
    signal: AbortSignal,
  ): Promise<PublicSession | undefined> {
    const deadline = performance.now() + seconds * 1000;
    const read = () => this.#reads.find(accountId, sessionId);
    let last: Seen | undefined;
    for (;;) {
      // Registered before the session is read, so that an end in between is not missed.
      const woken = this.#register(sessionId);
      try {
        last = await again(read, last, deadline);
        throwIfRefused(signal);
        const left = deadline - performance.now();
        if (isOver(last.session) || left <= 0 || signal.aborted) return last.session;
        await woken.orAfter(left, signal);
        throwIfRefused(signal);
        if (signal.aborted) return last.session;
      } finally {
        woken.unregister();
      }
    }
  }

  get count(): number {
    return this.#waiting.values().reduce((sum, { size }) => sum + size, 0);
  }

  #wake(sessionId: string): void {
    for (const wake of this.#waiting.get(sessionId) ?? []) wake();
  }

  /** Wakes clients that missed the end of their session. Other clients wait on. */
  async #recheck(): Promise<void> {
    const ids = [...this.#waiting.keys()];
    if (ids.length === 0) return;
    // While the database is away, nothing is known: looked at again next time.
    const unfinished = await whichAreUnfinished(this.#db, ids).catch(() => new Set(ids));
    for (const id of ids) if (!unfinished.has(id)) this.#wake(id);
  }

  #register(sessionId: string) {
    const { promise, resolve } = Promise.withResolvers<void>();
    const wake = () => resolve();
    const waiters = this.#waiting.get(sessionId) ?? new Set();
    this.#waiting.set(sessionId, waiters.add(wake));
    this.#rechecking ??= setInterval(() => void this.#recheck(), recheckMs);
    return {
      orAfter: async (ms: number, signal: AbortSignal) => {
        const timer = setTimeout(resolve, ms);
        signal.addEventListener('abort', wake);
        await promise;
        signal.removeEventListener('abort', wake);
        clearTimeout(timer);
      },
      unregister: () => {
        waiters.delete(wake);
        if (waiters.size === 0) this.#waiting.delete(sessionId);
        if (this.#waiting.size > 0) return;
        clearInterval(this.#rechecking);
        this.#rechecking = undefined;
      },
    };
  }
}

const isOver = (session: PublicSession | undefined) => session === undefined || isFinal(session.status);

function throwIfRefused({ reason }: AbortSignal): void {
  if (reason instanceof ApiError) throw reason;
}

interface Seen {
  session: PublicSession | undefined;
}

async function again(
  read: () => Promise<PublicSession | undefined>,
  last: Seen | undefined,
  deadline: number,
): Promise<Seen> {
  try {
    return { session: await read() };
  } catch (error) {
    if (last === undefined || performance.now() >= deadline || !isDatabaseUnavailable(error)) throw error;
    return last;
  }
}
