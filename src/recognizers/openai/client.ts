import { setTimeout as sleep } from 'node:timers/promises';
import { OperatorFault } from '../../ops/operator-fault.ts';
import { LanguageNotKnown, PieceRefused, RecognizerError } from '../recognizer.ts';
import { Exchange } from './exchange.ts';
import { hintFields, withoutRefused } from './hints.ts';
import { Refusal, isOfCertificate, longestTimerMs, reasonOf } from './refusal.ts';
import { aSecondOfSilence } from './sound.ts';
import type { Away } from '../recognizer.ts';
import type { Fields, SpeechServer } from './exchange.ts';
import type { HintFields, PieceHints } from './hints.ts';
import type { InTurn } from './requests.ts';

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

/** Without a Retry-After, as OpenAI's own client does: from half a second, each time twice as long, up to 8 s. */
const firstPauseMs = 500;
const longestPauseMs = 8_000;
/** Clients that were refused together don't come back together. */
const jitter = 0.25;
const longestMessage = 500;

/** How a piece is asked for. */
export interface Asking {
  /** Those that the server refuses are left out, except for the language. */
  hints: PieceHints;
  signal: AbortSignal;
  /** The trace to which the request belongs (W3C Trace Context). */
  traceparent?: string | undefined;
  /** Sends each try when the server has room for it. */
  inTurn?: InTurn;
}

export class SpeechClient {
  readonly #server: SpeechServer;
  readonly #retries: number;
  readonly #exchange: Exchange;

  /** @param retries of one request */
  constructor(server: SpeechServer, retries: number) {
    this.#server = server;
    this.#retries = retries;
    this.#exchange = new Exchange(server);
  }

  /**
   * Sends audio. When the server is busy, broken or away, it waits as long as the server asks for and tries again.
   * @param audio below the server's limit (25 MB at OpenAI)
   * @returns what the server answered, unchecked
   * @throws {FormatRefused}
   * @throws {LanguageNotKnown}
   * @throws {PieceRefused}
   * @throws {RecognizerError} with what the server said; retryable when the same request may succeed later
   */
  async transcribe(audio: File, format: AnswerFormat, asking: Asking): Promise<unknown> {
    const fieldsNow = () => hintFields(asking.hints, this.#server.model, this.#exchange.isWhisperCpp);
    const request = { file: audio, ...optionsOf[format] };
    const fields = fieldsNow();
    const answer = await this.#askWith(request, fields, asking);
    // The first answer of a server may show that it wants to be told otherwise.
    const better = fieldsNow();
    return better.language === fields.language ? answer : this.#askWith(request, better, asking);
  }

  /** Whether the server refuses the key. False also when the server is away or has no list of models. */
  async refusesKey(signal: AbortSignal): Promise<boolean> {
    const isKey = (error: unknown) => error instanceof Refusal && [401, 403].includes(error.status);
    try {
      await this.#exchange.ask('/models', { signal });
      return false;
    } catch (error) {
      if (signal.aborted) this.#exchange.health.silent('GET', signal.reason);
      if (!isKey(error)) return false;
      // A key may be for recordings only. OpenAI says so of one, and speaches asks for it everywhere.
      return await this.#askAboutSilence(signal).then(() => false, isKey);
    }
  }

  /**
   * Sends a second of silence. A server that does not answer in time is there if it answers something else: it is busy
   * with other recordings.
   * @returns what is still wrong
   */
  async look(timeLimitMs: number): Promise<Away | undefined> {
    const { health } = this.#exchange;
    const heard = AbortSignal.timeout(timeLimitMs);
    await this.#askAboutSilence(heard).catch(() => undefined);
    if (heard.aborted) {
      const isThere = await this.#exchange.ask('/models', { signal: AbortSignal.timeout(timeLimitMs) }).then(
        () => true,
        (error: unknown) => error instanceof Refusal,
      );
      if (isThere) health.answered('POST', 200);
      else health.silent('POST', heard.reason);
    }
    return this.away();
  }

  /** Why nobody would hear a recording, as the last one showed; undefined when somebody did, or said anything about it. */
  away(): Away | undefined {
    const { refusal, unheard } = this.#exchange.health;
    if (refusal instanceof Refusal) return { reason: 'refused', message: this.#answered(refusal) };
    if (refusal !== undefined) return { reason: 'refused', message: this.#cannotReach(refusal) };
    return unheard === undefined ? undefined : { reason: 'server', message: this.#cannotReach(unheard) };
  }

  /**
   * That the server can not be reached, as a sentence without its full stop; undefined when its last answer came from
   * itself.
   */
  unreachable(): string | undefined {
    const { missing } = this.#exchange.health;
    return missing === undefined ? undefined : this.#cannotReach(missing);
  }

  /** How many recordings the server has said something about, if only that it has no time. */
  answers(): number {
    return this.#exchange.health.answers;
  }

  close(): Promise<void> {
    return this.#exchange.close();
  }

  #askOnce(fields: Fields, signal: AbortSignal, traceparent?: string): Promise<unknown> {
    const all = { model: this.#server.model, ...fields };
    return this.#exchange.ask('/audio/transcriptions', { fields: all, signal, traceparent });
  }

  #askAboutSilence(signal: AbortSignal): Promise<unknown> {
    return this.#askOnce({ file: aSecondOfSilence(), response_format: 'json' }, signal);
  }

  async #askWith(request: Fields, fields: HintFields, asking: Asking): Promise<unknown> {
    const { hints, signal } = asking;
    try {
      return await this.#tryAgain({ ...request, ...fields }, asking);
    } catch (error) {
      signal.throwIfAborted();
      const others = withoutRefused(fields, (field) => isRefusalOf(error, field));
      if (others !== undefined) return this.#askWith(request, others, asking);
      const refusal = this.#toRecognizerError(error);
      const isLanguage = !(refusal instanceof FormatRefused) && isRefusalOf(error, /\blanguages?\b/i);
      if (isLanguage && hints.language !== undefined) throw new LanguageNotKnown(hints.language, undefined);
      throw refusal;
    }
  }

  /**
   * Asks again while a server is busy, broken or away, after the pause that it asks for.
   * @throws {PieceRefused} it breaks again at this piece, and hears silence
   * @throws what the last try throws, and what cannot be repeated at once
   * @throws the abort reason of `signal`
   */
  async #tryAgain(fields: Fields, { signal, traceparent, inTurn = (send) => send() }: Asking): Promise<unknown> {
    for (let earlier = 0; ; earlier += 1) {
      try {
        return await inTurn(() => this.#askOnce(fields, signal, traceparent));
      } catch (error) {
        const isBroken = earlier === 1 && error instanceof Refusal && error.status === 500;
        if (isBroken && (await this.#isSilenceHeard(signal))) throw new PieceRefused(this.#answered(error));
        signal.throwIfAborted();
        if (earlier >= this.#retries || !mayBeRepeated(error)) throw error;
        const asked = error instanceof Refusal ? error.retryAfterMs : undefined;
        await sleep(Math.min(asked ?? pauseMs(earlier), longestTimerMs), undefined, { signal });
      }
    }
  }

  #isSilenceHeard(signal: AbortSignal): Promise<boolean> {
    return this.#askAboutSilence(signal).then(
      () => true,
      () => false,
    );
  }

  #toRecognizerError(error: unknown): RecognizerError {
    if (error instanceof RecognizerError) return error;
    const fail = (message: string, retryable = true) => new RecognizerError('recognizer_error', message, { retryable });
    const ofTheOperator = (message: string) => {
      const cause = new OperatorFault(message);
      return new RecognizerError('recognizer_error', message, { retryable: true, cause });
    };
    if (isOfCertificate(error)) return ofTheOperator(this.#cannotReach(error));
    if (error instanceof TypeError) return fail(this.#cannotReach(error));
    if (!(error instanceof Refusal)) return fail(this.#toLine(`asking ${this.#host} failed: ${reasonOf(error)}`));

    const message = this.#answered(error);
    if (isRefusalOf(error, /response_format|verbose_json|diarized_json|timestamp_gran/))
      return new FormatRefused(message);
    return error.isOperators ? ofTheOperator(message) : fail(message, error.isPassing);
  }

  get #host(): string {
    return new URL(this.#server.baseUrl).host;
  }

  #answered({ message }: Refusal): string {
    return this.#toLine(`${this.#host} answered ${message}`);
  }

  #cannotReach(reason: unknown): string {
    return this.#toLine(`${this.#host} could not be reached: ${reasonOf(reason)}`);
  }

  /** A message for the log: one line, not too long, and without the key, which some servers repeat. */
  #toLine(message: string): string {
    const { apiKey } = this.#server;
    const withoutKey = apiKey === undefined ? message : message.replaceAll(apiKey, '…');
    return withoutKey
      .replace(/[\s\p{Cc}]+/gu, ' ')
      .trim()
      .slice(0, longestMessage);
  }
}

/** Whether the server refuses a request because of a field. @param field in what it says */
const isRefusalOf = (error: unknown, field: RegExp): boolean =>
  error instanceof Refusal && [400, 422].includes(error.status) && field.test(`${error.param} ${error.message}`);

const pauseMs = (earlier: number) =>
  Math.min(firstPauseMs * 2 ** earlier, longestPauseMs) * (1 - jitter * Math.random());

/** What was answered, and can't be read, would be answered again. */
function mayBeRepeated(error: unknown): boolean {
  if (error instanceof Refusal) return error.mayBeRepeated;
  return error instanceof TypeError && !isOfCertificate(error);
}
