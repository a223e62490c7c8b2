import { APIError, OpenAI } from 'openai';
import { LanguageNotKnown, PieceRefused, RecognizerError } from '../recognizer.ts';
import { readBody } from './answer-body.ts';
import { createExchange, isAtFault } from './exchange.ts';
import { hintFields, withoutRefused } from './hints.ts';
import { aSecondOfSilence } from './silence.ts';
import { anyKey, keyHeader } from './speech-server.ts';
import type { HintFields, PieceHints } from './hints.ts';
import type { SpeechServer } from './speech-server.ts';

/** The format of an answer (`response_format`), the one that tells most first; `any` is what a server answers unasked. */
export type AnswerFormat = 'diarized_json' | 'verbose_json' | 'json' | 'any';

/** The server or its model can't answer in that format. */
export class FormatRefused extends RecognizerError {
  constructor(message: string) {
    super('recognizer_error', message, { retryable: false });
  }
}

export interface SpeechClient {
  /**
   * Sends audio. When the server is busy, broken or away, it waits as long as the server asks for and tries again.
   * @param audio below the server's limit (25 MB at OpenAI)
   * @param hints those that the server refuses are left out, except for the language
   * @param traceparent the trace to which the request belongs (W3C Trace Context)
   * @returns what the server answered, unchecked
   * @throws {FormatRefused}
   * @throws {LanguageNotKnown}
   * @throws {PieceRefused}
   * @throws {RecognizerError} with what the server said; retryable when the same request may succeed later
   */
  transcribe(
    audio: File,
    format: AnswerFormat,
    hints: PieceHints,
    signal: AbortSignal,
    traceparent?: string,
  ): Promise<unknown>;
  /** Whether the server says that the key is wrong. False also when the server is away or has no list of models. */
  refusesKey(signal: AbortSignal): Promise<boolean>;
  /**
   * Sends a second of silence. A server that does not answer in time is there if it answers something else: it is busy
   * with other recordings.
   */
  look(timeLimitMs: number): Promise<void>;
  /**
   * That the server can not be reached, as a sentence without its full stop; undefined when its last answer came from
   * itself.
   */
  unreachable(): string | undefined;
  /** Whether nobody heard the last recording, because the server could not be reached. */
  isUnheard(): boolean;
  /** How many recordings the server has said something about, if only that it has no time. */
  answers(): number;
  close(): Promise<void>;
}

const longestMessage = 500;

/**
 * @param retries of one request
 * @throws {ConfigError} a proxy has no address
 */
export function createSpeechClient(server: SpeechServer, retries: number): SpeechClient {
  const { host, origin, pathname, searchParams } = new URL(server.baseUrl);
  const exchange = createExchange(keyHeader(server), retries, () => askAboutSilence({ maxRetries: 0 }));
  const client: OpenAI = new OpenAI({
    baseURL: origin + pathname,
    defaultQuery: Object.fromEntries(searchParams),
    apiKey: server.apiKey ?? anyKey,
    maxRetries: retries,
    fetch: exchange.fetch,
    // The signal ends a request. After a timeout of its own, the package would send the request again.
    timeout: 24 * 60 * 60_000,
    logLevel: 'off',
    // Values that are not given here, the package reads from the environment.
    ...{ adminAPIKey: null, organization: null, project: null, webhookSecret: null },
  });

  const askAboutSilence = (options: { maxRetries: number; signal?: AbortSignal }) =>
    client.audio.transcriptions.create(
      { file: aSecondOfSilence(), model: server.model, response_format: 'json' },
      options,
    );

  return {
    async transcribe(audio, format, hints, signal, traceparent) {
      const request = { file: audio, model: server.model, ...optionsOf[format] };
      const fieldsNow = () => hintFields(hints, server.model, exchange.isWhisperCpp());
      const ask = async (fields: HintFields): Promise<unknown> => {
        try {
          const options = { signal, headers: { traceparent } };
          const response = await client.audio.transcriptions.create({ ...request, ...fields }, options).asResponse();
          return readBody(await response.text(), response.headers.get('content-type') ?? '', host);
        } catch (error) {
          signal.throwIfAborted();
          if (error instanceof RecognizerError) throw error;
          const others = withoutRefused(fields, (field) => isRefusalOf(error, field));
          if (others !== undefined) return ask(others);
          const refusal = toRecognizerError(error, server);
          if (!(refusal instanceof FormatRefused) && isRefusalOf(error, /\blanguages?\b/i)) refuse(hints.language);
          throw refusal;
        }
      };
      const fields = fieldsNow();
      const answer = await ask(fields);
      // The first answer of a server may show that it wants to be told otherwise.
      const better = fieldsNow();
      return better.language === fields.language ? answer : ask(better);
    },
    async refusesKey(signal) {
      try {
        await client.models.list({ signal, maxRetries: 0 });
        return false;
      } catch (error) {
        if (signal.aborted) exchange.presence.silent('GET', signal.reason);
        return error instanceof APIError && error.status === 401 && error.code === 'invalid_api_key';
      }
    },
    async look(timeLimitMs) {
      const { presence } = exchange;
      const heard = AbortSignal.timeout(timeLimitMs);
      await askAboutSilence({ signal: heard, maxRetries: 0 }).catch(() => {});
      if (!heard.aborted) return;
      const answered = AbortSignal.timeout(timeLimitMs);
      const isThere = await client.models.list({ signal: answered, maxRetries: 0 }).then(
        () => true,
        (error: unknown) => !(error instanceof APIError) || error.status !== undefined,
      );
      if (isThere) presence.answered('POST', 200);
      else presence.silent('POST', heard.reason);
    },
    unreachable() {
      const reason = exchange.presence.missing;
      return reason === undefined ? undefined : cannotReach(server, reason);
    },
    isUnheard: () => exchange.presence.unheard !== undefined,
    answers: () => exchange.presence.answers,
    close: exchange.close,
  };
}

const cannotReach = (server: SpeechServer, reason: unknown) =>
  toLine(`${new URL(server.baseUrl).host} could not be reached: ${reasonOf(reason)}`, server.apiKey);

const optionsOf = {
  verbose_json: { response_format: 'verbose_json', timestamp_granularities: ['word', 'segment'] },
  // Servers ask for it with audio of more than 30 s.
  diarized_json: { response_format: 'diarized_json', chunking_strategy: 'auto' },
  json: { response_format: 'json' },
  any: {},
} satisfies Record<AnswerFormat, Partial<OpenAI.Audio.TranscriptionCreateParams>>;

/** @throws {LanguageNotKnown} it was told a language */
function refuse(language: string | undefined): void {
  if (language !== undefined) throw new LanguageNotKnown(language, undefined);
}

/** Whether the server refuses a request because of a field. @param field in what it says */
const isRefusalOf = (error: unknown, field: RegExp): error is APIError =>
  error instanceof APIError && [400, 422].includes(error.status!) && field.test(`${error.param} ${error.message}`);

/** The package's error is not kept as the cause, because it may hold the key. */
function toRecognizerError(error: unknown, server: SpeechServer): RecognizerError {
  const { host } = new URL(server.baseUrl);
  const fail = (message: string, retryable: boolean) =>
    new RecognizerError('recognizer_error', toLine(message, server.apiKey), { retryable });
  if (!(error instanceof APIError)) return fail(`asking ${host} failed: ${reasonOf(error)}`, true);
  const { status } = error;
  if (status === undefined) return fail(cannotReach(server, error), true);

  const message = `${host} answered ${error.message}`;
  if (isRefusalOf(error, /response_format|verbose_json|diarized_json|timestamp_gran/)) {
    return new FormatRefused(toLine(message, server.apiKey));
  }
  if (error.headers?.has(isAtFault)) return new PieceRefused(toLine(message, server.apiKey));
  // The package tries the same statuses again.
  return fail(message, [408, 409, 429].includes(status) || status >= 500);
}

/** The innermost reason, such as `connect ECONNREFUSED 127.0.0.1:8000`. */
function reasonOf(error: unknown): string {
  if (!Error.isError(error)) return String(error);
  let innermost = error;
  while (Error.isError(innermost.cause)) innermost = innermost.cause;
  return innermost.message || String((innermost as NodeJS.ErrnoException).code);
}

/** A message for the log: one line, not too long, and without the key, which some servers repeat. */
function toLine(message: string, apiKey: string | undefined): string {
  const withoutKey = apiKey === undefined ? message : message.replaceAll(apiKey, '…');
  return withoutKey
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, longestMessage);
}
