import { DependencyError } from '../../ops/dependency-error.ts';
import { LanguageNotKnown, ChunkRefused, RecognizerError } from '../recognizer.ts';
import { Exchange } from './exchange.ts';
import { hintFields, withoutRefused } from './hints.ts';
import { Refusal, isRefusalOf, judge, reasonOf } from './refusal.ts';
import { Requests } from './requests.ts';
import { aSecondOfSilence } from './encode-chunk.ts';
import type { Away } from '../recognizer.ts';
import type { Fields, SpeechServer } from './exchange.ts';
import type { ChunkHints } from './hints.ts';

/** The format of an answer (`response_format`), the one that tells most first; `any` is what a server answers unasked. */
export type AnswerFormat = 'diarized_json' | 'verbose_json' | 'json' | 'any';

const optionsOf = {
  verbose_json: { response_format: 'verbose_json', timestamp_granularities: ['word', 'segment'] },
  // Servers ask for it with audio of more than 30 s.
  diarized_json: { response_format: 'diarized_json', chunking_strategy: 'auto' },
  json: { response_format: 'json' },
  any: {},
} satisfies Record<AnswerFormat, Fields>;

/** The server or its model can't answer in that format. */
export class FormatRefused extends RecognizerError {
  constructor(message: string) {
    super('recognizer_error', message, { retryable: false });
  }
}

const longestMessage = 500;
const lookTimeLimitMs = 5_000;
const findRoomTimeLimitMs = 60_000;
/** How often a server that is away is probed. */
const askAgainMs = 3_000;

export interface ClientOptions {
  server: SpeechServer;
  /** Requests at once, at most, over all jobs of the process. How many the server gets is found by trying. */
  mostRequests?: number | undefined;
  /** Of one request, besides its first try. They are spread over 45 s. */
  retries?: number | undefined;
  /** How long a server may take for a chunk of that length. */
  timeLimitMs?: ((audioMs: number) => number) | undefined;
}

export interface Asking {
  audioMs: number;
  /** Those that the server refuses are left out, except for the language. */
  hints: ChunkHints;
  signal: AbortSignal;
  /** The trace to which the request belongs (W3C Trace Context). */
  traceparent?: string | undefined;
}

export class SpeechClient {
  readonly requests: Requests;
  /** Called when the server has no room for longer than a moment. */
  onBusy: (why: Away) => void = () => {};
  readonly #server: SpeechServer;
  readonly #exchange: Exchange;
  readonly #timeLimitMs: (audioMs: number) => number;
  /** Why nobody would hear a recording, as the last request showed. */
  #trouble: Away | undefined;
  #looking: Promise<Away | undefined> | undefined;
  #lookedAt = -Infinity;

  constructor(options: ClientOptions) {
    const { server, mostRequests: most = 256, retries = 8 } = options;
    // So long that a slow server with a queue of its own may answer.
    const { timeLimitMs = (audioMs: number) => 10 * 60_000 + 4 * audioMs } = options;
    this.#server = server;
    this.#exchange = new Exchange(server);
    this.#timeLimitMs = timeLimitMs;
    // A server that takes it, and is slow, has room.
    const findRoom = (signal: AbortSignal) =>
      this.#askAboutSilence(AbortSignal.any([signal, AbortSignal.timeout(findRoomTimeLimitMs)])).then(
        () => undefined,
        (error: unknown) => (judge(error) === 'no room' ? (error as Refusal) : undefined),
      );
    this.requests = new Requests({ most, retries, findRoom, onBusy: () => this.onBusy(this.away()!) });
  }

  /**
   * Sends audio, and again while the server is busy, broken or away for a moment.
   * @param audio below the server's limit (25 MB at OpenAI)
   * @returns what the server answered, unchecked
   * @throws {FormatRefused}
   * @throws {LanguageNotKnown}
   * @throws {ChunkRefused} the server failed at it at each try, and hears silence
   * @throws {RecognizerError} with what the server said; retryable when the same request may succeed later
   */
  async transcribe(audio: File, format: AnswerFormat, asking: Asking): Promise<unknown> {
    const fieldsNow = () => hintFields(asking.hints, this.#server.model, this.#exchange.isWhisperCpp);
    const request = { file: audio, ...optionsOf[format] };
    const fields = fieldsNow();
    const answer = await this.#askWith(request, fields, asking);
    // The first answer of a server may show that it wants to be told otherwise.
    const better = fieldsNow();
    return better['language'] === fields['language'] ? answer : this.#askWith(request, better, asking);
  }

  /** Whether the server refuses the key. False also when the server is away or has no list of models. */
  async refusesKey(): Promise<boolean> {
    const isKey = (error: unknown) => error instanceof Refusal && [401, 403].includes(error.status);
    const signal = AbortSignal.timeout(lookTimeLimitMs);
    try {
      await this.#exchange.ask('/models', { signal });
      return false;
    } catch (error) {
      // A gateway may answer everything but recordings by itself.
      if (signal.aborted || error instanceof TypeError) this.#isAway(error);
      if (!isKey(error)) return false;
      // A key may be for recordings only. OpenAI says so of one, and speaches asks for it everywhere.
      return this.#askAboutSilence(signal).then(() => false, isKey);
    }
  }

  /** Why nobody would hear a recording, as far as is known. */
  away(): Away | undefined {
    const { busy } = this.requests;
    return busy === undefined ? this.#trouble : { reason: 'busy', message: this.#said(busy) };
  }

  /** The same, for somebody who asks again and again: the server is asked, too, if only now and then. */
  awayLately(): Away | undefined {
    if (this.#trouble !== undefined && performance.now() - this.#lookedAt >= askAgainMs) void this.look();
    return this.away();
  }

  /**
   * Sends a second of silence. A server that does not answer in time is there if it answers something else: it works on
   * other recordings.
   * @returns what is wrong
   */
  look(): Promise<Away | undefined> {
    this.#lookedAt = performance.now();
    this.#looking ??= this.#look().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  close(): Promise<void> {
    this.requests.close();
    return this.#exchange.close();
  }

  async #look(): Promise<Away | undefined> {
    const signal = AbortSignal.timeout(lookTimeLimitMs);
    try {
      await this.#askAboutSilence(signal);
    } catch (error) {
      const isThere = () =>
        this.#exchange.ask('/models', { signal: AbortSignal.timeout(lookTimeLimitMs) }).then(
          () => true,
          (other: unknown) => other instanceof Refusal,
        );
      if (signal.aborted ? !(await isThere()) : judge(error) === 'passing') this.#isAway(error);
      else if (signal.aborted) this.#trouble = undefined;
    }
    return this.#trouble;
  }

  #isAway(error: unknown): void {
    this.#trouble = { reason: 'server', message: this.#said(error) };
  }

  async #ask(fields: Fields, signal: AbortSignal, traceparent?: string): Promise<unknown> {
    const all = { model: this.#server.model, ...fields };
    try {
      const answer = await this.#exchange.ask('/audio/transcriptions', { fields: all, signal, traceparent });
      this.#trouble = undefined;
      return answer;
    } catch (error) {
      const verdict = judge(error);
      if (verdict === 'operators') this.#trouble = { reason: 'refused', message: this.#said(error) };
      // A job that was stopped says nothing of the server, and what passes may be the chunk's fault.
      else if (verdict !== 'passing' && !signal.aborted) this.#trouble = undefined;
      throw error;
    }
  }

  #askAboutSilence(signal: AbortSignal): Promise<unknown> {
    return this.#ask({ file: aSecondOfSilence(), response_format: 'json' }, signal);
  }

  async #askWith(request: Fields, fields: Fields, asking: Asking): Promise<unknown> {
    const { hints, signal, traceparent, audioMs } = asking;
    try {
      const limits = { audioMs, limitMs: this.#timeLimitMs(audioMs), signal };
      return await this.requests.answer(limits, (stop) => this.#ask({ ...request, ...fields }, stop, traceparent));
    } catch (error) {
      signal.throwIfAborted();
      const others = withoutRefused(fields, (field) => isRefusalOf(error, field));
      if (others !== undefined) return this.#askWith(request, others, asking);
      if (isRefusalOf(error, /response_format|verbose_json|diarized_json|timestamp_gran/))
        throw new FormatRefused(this.#said(error));
      if (hints.language !== undefined && isRefusalOf(error, /\blanguages?\b/i))
        throw new LanguageNotKnown(hints.language, undefined);
      throw await this.#toRecognizerError(error);
    }
  }

  /** What hears silence is there: a chunk that it can't hear is to blame itself. */
  async #toRecognizerError(error: unknown): Promise<RecognizerError> {
    const verdict = judge(error);
    const fail = (message: string, retryable: boolean, cause?: Error) =>
      new RecognizerError('recognizer_error', message, { retryable, ...(cause && { cause }) });
    const isLate = error instanceof RecognizerError && error.code === 'timed_out';
    if (isLate || verdict === 'passing') {
      const away = await this.look();
      if (away !== undefined) return fail(away.message, true);
    }
    if (error instanceof RecognizerError) return error;
    const message = this.#said(error);
    if (verdict === 'passing') return new ChunkRefused(message);
    if (verdict === 'operators') return fail(message, true, new DependencyError(message));
    // What is no refusal is a fault on this side, such as audio that can't be read.
    return fail(message, !(error instanceof Refusal));
  }

  /** For the log: one line, not too long, and without the key, which some servers repeat. */
  #said(error: unknown): string {
    const { baseUrl, apiKey } = this.#server;
    const { host } = new URL(baseUrl);
    const isUnreached = error instanceof TypeError || (Error.isError(error) && error.name === 'TimeoutError');
    const message =
      error instanceof Refusal
        ? `${host} answered ${error.message}`
        : `${isUnreached ? `${host} could not be reached` : `asking ${host} failed`}: ${reasonOf(error)}`;
    const withoutKey = apiKey === undefined ? message : message.replaceAll(apiKey, '…');
    return withoutKey
      .replace(/[\s\p{Cc}]+/gu, ' ')
      .trim()
      .slice(0, longestMessage);
  }
}
