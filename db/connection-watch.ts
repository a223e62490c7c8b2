/**
 * Notices a server that has fallen silent: in a network that swallows packets a query would hang for its whole time limit,
 * and a connection whose other end is gone until TCP gives up, after a quarter of an hour.
 */
import { Socket } from 'node:net';

const silentMs = 3_000;
const answerMs = 3_000;
/** Sockets have timers of their own for this, which cost every query 6 µs. */
const lookEveryMs = 1_000;

/** What is asked of the connection that questions go over. */
interface Line {
  connect(): Promise<unknown>;
  query(text: string): Promise<unknown>;
  end(): Promise<void>;
  on(event: 'error' | 'end', listener: () => void): unknown;
}

/** What was last seen of a connection, by the clock of `performance.now()`. */
interface Seen {
  bytes: number;
  silentSince: number;
  askedAt: number;
}

/**
 * A connection that was silent for 3 s is broken off when the server doesn't answer on another one within 3 s. A server
 * that is merely slow at a statement answers there, so nothing happens to it until the longest silence is over.
 */
export class ConnectionWatch {
  readonly #newLine: (stream: () => Socket) => Line;
  readonly #isAnswer: (error: unknown) => boolean;
  readonly #longestSilenceMs: number;
  readonly #seen = new Map<Socket, Seen>();
  #looking: NodeJS.Timeout | undefined;
  #lookedAt = 0;
  #line: Promise<Line> | undefined;
  #asking: Promise<boolean> | undefined;
  #closed = false;

  /**
   * @param newLine makes a connection to the same server with this option `stream`, not yet connected
   * @param isAnswer whether the server itself said so: a refusal is no silence
   * @param longestSilenceMs after which a connection is broken off whatever the server answers on another one
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

  /** For pg's option `stream`: the socket of a connection that is watched, from its first packet on. */
  readonly stream = (): Socket => {
    const socket = new Socket();
    this.#seen.set(socket, { bytes: 0, silentSince: performance.now(), askedAt: 0 });
    this.#looking ??= setInterval(() => this.#look(), lookEveryMs).unref();
    socket.once('close', () => {
      this.#seen.delete(socket);
      if (this.#seen.size > 0) return;
      clearInterval(this.#looking);
      this.#looking = undefined;
    });
    return socket;
  };

  /** All that are open: where one leads to the wrong server, so may the others. */
  breakOffAll(): void {
    for (const socket of this.#seen.keys()) breakOff(socket, 'the server takes no writes any more');
  }

  /** From now on whatever falls silent is broken off: a server that is away never says goodbye. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.hangUp();
  }

  #look(): void {
    const now = performance.now();
    // Stopped for a while, this process has not yet read what came meanwhile.
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

  /** Whether the server answers; all who ask at once share one question. */
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

  /** The line stays open between questions: to make one costs the server a process. */
  #call(): Promise<Line> {
    if (this.#closed) return Promise.reject(new Error('closed'));
    this.#line ??= this.#connect();
    return this.#line;
  }

  #connect(): Promise<Line> {
    const line = this.#newLine(this.stream);
    const connecting = line.connect().then(() => line);
    // One that was given up may end late, when another has long taken its place.
    const drop = () => {
      if (this.#line === connecting) this.#line = undefined;
    };
    line.on('error', drop);
    line.on('end', drop);
    return connecting;
  }

  /** The next question goes over a new connection: the old one may lead to the wrong server. */
  async hangUp(): Promise<void> {
    const line = this.#line;
    this.#line = undefined;
    await line?.then((open) => open.end()).catch(() => {});
  }
}

function breakOff(socket: Socket, why = 'the server is silent'): void {
  socket.destroy(new Error(`Connection terminated: ${why}`));
}
