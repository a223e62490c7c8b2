import { openConnection, refuseReadOnly } from '../../../db/connection/database.ts';
import { sessionChannel } from '../../../db/sessions/states.ts';
import type { Log } from '../../ops/log.ts';

const reconnectMs = 1_000;
/**
 * How often the server is asked whether it was demoted. A demoted server does not break the connection, but no session
 * ends there any more.
 */
const pollIntervalMs = 5_000;

type Connection = ReturnType<typeof openConnection>;

/**
 * Tells which sessions have ended, by LISTEN over one connection of the process. A connection that breaks is replaced.
 */
export class SessionNotices {
  readonly #url: string;
  readonly #log: Log;
  readonly #onFinal: (sessionId: string) => void;
  readonly #onListening: () => void;
  #connection: Connection | undefined;
  #reconnect: NodeJS.Timeout | undefined;
  #looking: NodeJS.Timeout | undefined;
  #stopped = false;

  /** @param onListening called whenever listening has begun: sessions that ended before were not heard of */
  constructor(url: string, log: Log, onFinal: (sessionId: string) => void, onListening: () => void) {
    this.#url = url;
    this.#log = log;
    this.#onFinal = onFinal;
    this.#onListening = onListening;
  }

  async start(): Promise<void> {
    const connection = openConnection(this.#url, { longestSilenceMs: 2 * pollIntervalMs });
    this.#connection = connection;
    connection.on('notification', ({ payload }) => this.#onFinal(payload ?? ''));
    connection.on('error', (error) => this.#log.warn({ err: error }, 'the listening connection broke'));
    connection.on('end', () => this.#startAgain());
    try {
      await connection.connect();
      await refuseReadOnly(connection);
      await connection.query(`listen ${sessionChannel}`);
      this.#looking = setInterval(() => void this.#look(connection), pollIntervalMs);
      this.#onListening();
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
}
