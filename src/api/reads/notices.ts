import { openConnection } from '../../../db/database.ts';
import { sessionChannel } from '../../../db/sessions/states.ts';
import type { Log } from '../../log.ts';

const reconnectMs = 1_000;

/** News of sessions that ended, by LISTEN over one connection of the process, which is replaced when it breaks. */
export class SessionNotices {
  readonly #url: string;
  readonly #log: Log;
  readonly #onFinal: (sessionId: string) => void;
  readonly #onListening: () => void;
  #connection: ReturnType<typeof openConnection> | undefined;
  #reconnect: NodeJS.Timeout | undefined;
  #stopped = false;

  /** @param onListening told whenever listening has begun: whatever ended before then went unheard */
  constructor(url: string, log: Log, onFinal: (sessionId: string) => void, onListening: () => void) {
    this.#url = url;
    this.#log = log;
    this.#onFinal = onFinal;
    this.#onListening = onListening;
  }

  async start(): Promise<void> {
    const connection = openConnection(this.#url);
    this.#connection = connection;
    connection.on('notification', ({ payload }) => this.#onFinal(payload ?? ''));
    connection.on('error', (error) => this.#log.warn({ err: error }, 'the listening connection broke'));
    connection.on('end', () => this.#startAgain());
    try {
      await connection.connect();
      await connection.query(`listen ${sessionChannel}`);
      this.#onListening();
    } catch (error) {
      this.#log.warn({ err: error }, 'can not listen for finished sessions');
      await connection.end().catch(() => {});
      this.#startAgain();
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
}
