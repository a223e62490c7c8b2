import { LanguageNotKnown, PieceRefused } from '../recognizer.ts';
import { Exchange } from './exchange.ts';
import { hintFields, withoutRefused } from './hints.ts';
import { FormatRefused, answered, cannotReach, isRefusalOf, toRecognizerError } from './errors.ts';
import { Refusal } from './refusal.ts';
import { aSecondOfSilence } from './wav.ts';
import { tryAgain } from './tries.ts';
import type { Fields } from './exchange.ts';
import type { HintFields, PieceHints } from './hints.ts';
import type { InTurn } from './requests.ts';
import type { SpeechServer } from './speech-server.ts';

/** The format of an answer (`response_format`), the one that tells most first; `any` is what a server answers unasked. */
export type AnswerFormat = 'diarized_json' | 'verbose_json' | 'json' | 'any';

export interface SpeechClient {
  /**
   * Sends audio. When the server is busy, broken or away, it waits as long as the server asks for and tries again.
   * @param audio below the server's limit (25 MB at OpenAI)
   * @param hints those that the server refuses are left out, except for the language
   * @param traceparent the trace to which the request belongs (W3C Trace Context)
   * @param inTurn sends each try when the server has room for it
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
    inTurn?: InTurn,
  ): Promise<unknown>;
  /** Whether the server refuses the key. False also when the server is away or has no list of models. */
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
  /** What only the operator can put right, as the last recording showed: a sentence without its full stop. */
  refusal(): string | undefined;
  /** Whether the server is whisper.cpp's own, as far as it has answered anything. */
  hearsOneAtATime(): boolean;
  /** How many recordings the server has said something about, if only that it has no time. */
  answers(): number;
  close(): Promise<void>;
}

/** @param retries of one request */
export function createSpeechClient(server: SpeechServer, retries: number): SpeechClient {
  const exchange = new Exchange(server);
  const { health } = exchange;
  const askOnce = (fields: Fields, signal: AbortSignal, traceparent?: string) =>
    exchange.ask('/audio/transcriptions', { fields: { model: server.model, ...fields }, signal, traceparent });
  const askAboutSilence = (signal: AbortSignal) =>
    askOnce({ file: aSecondOfSilence(), response_format: 'json' }, signal);
  const isSilenceHeard = (signal: AbortSignal) =>
    askAboutSilence(signal).then(
      () => true,
      () => false,
    );

  return {
    async transcribe(audio, format, hints, signal, traceparent, inTurn = (send) => send()) {
      const request = { file: audio, ...optionsOf[format] };
      const fieldsNow = () => hintFields(hints, server.model, exchange.isWhisperCpp);
      const ask = async (fields: HintFields): Promise<unknown> => {
        try {
          return await tryAgain(retries, signal, async (earlier) => {
            try {
              return await inTurn(() => askOnce({ ...request, ...fields }, signal, traceparent));
            } catch (error) {
              const isBroken = earlier === 1 && error instanceof Refusal && error.status === 500;
              if (isBroken && (await isSilenceHeard(signal))) throw new PieceRefused(answered(server, error));
              throw error;
            }
          });
        } catch (error) {
          signal.throwIfAborted();
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
      const isKey = (error: unknown) => error instanceof Refusal && [401, 403].includes(error.status);
      try {
        await exchange.ask('/models', { signal });
        return false;
      } catch (error) {
        if (signal.aborted) health.silent('GET', signal.reason);
        if (!isKey(error)) return false;
        // A key may be for recordings only. OpenAI says so of one, and speaches asks for it everywhere.
        return await askAboutSilence(signal).then(() => false, isKey);
      }
    },
    async look(timeLimitMs) {
      const heard = AbortSignal.timeout(timeLimitMs);
      await isSilenceHeard(heard);
      if (!heard.aborted) return;
      const answered = AbortSignal.timeout(timeLimitMs);
      const isThere = await exchange.ask('/models', { signal: answered }).then(
        () => true,
        (error: unknown) => error instanceof Refusal,
      );
      if (isThere) health.answered('POST', 200);
      else health.silent('POST', heard.reason);
    },
    unreachable() {
      const reason = health.missing;
      return reason === undefined ? undefined : cannotReach(server, reason);
    },
    isUnheard: () => health.unheard !== undefined,
    refusal() {
      const { refusal } = health;
      if (refusal === undefined) return undefined;
      return refusal instanceof Refusal ? answered(server, refusal) : cannotReach(server, refusal);
    },
    hearsOneAtATime: () => exchange.isWhisperCpp,
    answers: () => health.answers,
    close: () => exchange.close(),
  };
}

const optionsOf = {
  verbose_json: { response_format: 'verbose_json', timestamp_granularities: ['word', 'segment'] },
  // Servers ask for it with audio of more than 30 s.
  diarized_json: { response_format: 'diarized_json', chunking_strategy: 'auto' },
  json: { response_format: 'json' },
  any: {},
} satisfies Record<AnswerFormat, Fields>;

/** @throws {LanguageNotKnown} it was told a language */
function refuse(language: string | undefined): void {
  if (language !== undefined) throw new LanguageNotKnown(language, undefined);
}
