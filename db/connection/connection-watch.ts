/**
 * Notices a server that does not answer any more. In a network that loses packets, a query would wait for its whole
 * time limit. A connection whose other end is gone would wait until TCP gives up, after a quarter of an hour.
 */
import { Socket } from 'node:net';

const silentMs = 3_000;
const answerMs = 3_000;
/** Sockets have timers for this, but those would cost every query 6 µs. */
const pollIntervalMs = 1_000;

const looks = new Set<() => void>();
let looking: NodeJS.Timeout | undefined;

/** All watches look in the same moment: each wake of an idle process costs more than the look. @returns ends it */
function lookTogether(look: () => void): () => void {
  looks.add(look);
  looking ??= setInterval(() => looks.forEach((one) => one()), pollIntervalMs).unref();
  return () => {
    looks.delete(look);
    if (looks.size > 0) return;
    clearInterval(looking);
    looking = undefined;
  };
}

/** A connection over which the server is asked whether it answers. */
interface Line {
  connect(): Promise<unknown>;
  query(text: string): Promise<unknown>;
  end(): Promise<void>;
  on(event: 'error' | 'end', listener: () => void): unknown;
}

/** When the connection was last active, by the clock of `performance.now()`. */
interface Seen {
  bytes: number;
  silentSince: number;
  askedAt: number;
}

/**
 * When a connection was silent for 3 s, the server is asked over another connection. When it does not answer there
 * within 3 s, the silent connection is broken off. A server that is only slow at a statement answers there, so its
 * connection stays until the longest silence is over.
 */
export class ConnectionWatch {
  readonly #newLine: (stream: () => Socket) => Line;
  readonly #isAnswer: (error: unknown) => boolean;
  readonly #longestSilenceMs: number;
  readonly #seen = new Map<Socket, Seen>();
  #stopLooking: (() => void) | undefined;
  #lookedAt = 0;
  #line: Promise<Line> | undefined;
  #asking: Promise<boolean> | undefined;
  #closed = false;

  /**
   * @param newLine makes a connection to the same server with this option `stream`, not yet connected
   * @param isAnswer whether an error came from the server itself: a refusal is an answer
   * @param longestSilenceMs after which a connection is broken off, whatever the server answers over another one
   */
  constructor(
    newLine: (stream: () => Socket) => Line,
    isAnswer: (error: unknown) => boolean,
    longestSilenceMs = Infinity,
  ) {
    this.#newLine = newLine;
    this.#isAnswer = isAnswer;
    this.#longestSilenceMs = longestSilenceMs;
  }

  /** For pg's option `stream`: makes the socket of a connection that is watched from its first packet on. */
  readonly stream = (): Socket => {
    const socket = new Socket();
    this.#seen.set(socket, { bytes: 0, silentSince: performance.now(), askedAt: 0 });
    this.#stopLooking ??= lookTogether(() => this.#look());
    socket.once('close', () => {
      this.#seen.delete(socket);
      if (this.#seen.size > 0) return;
      this.#stopLooking?.();
      this.#stopLooking = undefined;
    });
    return socket;
  };

  /** Breaks off all open connections: when one leads to the wrong server, the others may, too. */
  breakOffAll(): void {
    for (const socket of this.#seen.keys()) breakOff(socket, 'the server takes no writes any more');
  }

  /**
   * From now on, every connection that falls silent is broken off, because a server that is away does not close its
   * connections.
   */
  async close(): Promise<void> {
    this.#closed = true;
    await this.hangUp();
  }

  #look(): void {
    const now = performance.now();
    // This process was stopped for a while and has not yet read what came meanwhile.
    const wasAway = now - this.#lookedAt > silentMs;
    this.#lookedAt = now;
    for (const [socket, seen] of this.#seen) {
      const bytes = socket.bytesRead + socket.bytesWritten;
      if (wasAway || bytes !== seen.bytes) Object.assign(seen, { bytes, silentSince: now, askedAt: now });
      else if (now - seen.silentSince >= this.#longestSilenceMs) breakOff(socket);
      else if (now - Math.max(seen.silentSince, seen.askedAt) >= silentMs) {
        seen.askedAt = now;
        void this.#isThere().then((isThere) => isThere || breakOff(socket));
      }
    }
  }

  /** Whether the server answers. Calls at the same time share one question. */
  #isThere(): Promise<boolean> {
    this.#asking ??= this.#ask().finally(() => (this.#asking = undefined));
    return this.#asking;
  }

  async #ask(): Promise<boolean> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(() => late.reject(new Error('no answer')), answerMs);
    try {
      const asked = this.#call().then((line) => line.query('select 1'));
      await Promise.race([asked, late.promise]);
      return true;
    } catch (error) {
      void this.hangUp();
      return this.#isAnswer(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** The connection stays open between questions, because each new one costs the server a process. */
  #call(): Promise<Line> {
    if (this.#closed) return Promise.reject(new Error('closed'));
    this.#line ??= this.#connect();
    return this.#line;
  }

  #connect(): Promise<Line> {
    const line = this.#newLine(this.stream);
    const connecting = line.connect().then(() => line);
    // A connection that was given up may end late, when another one has replaced it.
    const drop = () => {
      if (this.#line === connecting) this.#line = undefined;
    };
    line.on('error', drop);
    line.on('end', drop);
    return connecting;
  }

  /** Ends the connection, so that the next question uses a new one: the old one may lead to the wrong server. */
  async hangUp(): Promise<void> {
    const line = this.#line;
    this.#line = undefined;
    await line?.then((open) => open.end()).catch(() => {});
  }
}

/**
 * With the code of a reset connection, of which pg says nothing while it ends a connection. Nobody would listen any more,
 * and an 'error' without a listener ends the process.
 */
function breakOff(socket: Socket, why = 'the server is silent'): void {
  socket.destroy(Object.assign(new Error(`Connection terminated: ${why}`), { code: 'ECONNRESET' }));
}
