import { findLimiters } from '../../children/bounded-command.ts';
import { ExecutableNotFound, findExecutable } from '../../children/executable.ts';
import { createSlots, hearInPieces } from '../in-pieces.ts';
import { readAnswer } from './server-answers.ts';
import { FormatRefused, createSpeechClient } from './client.ts';
import { toFlac } from './flac.ts';
import { refuseOtherLanguage } from './hints.ts';
import { lettersOf } from './punctuation.ts';
import { toTranscript } from './transcript.ts';
import { RecognizerError } from '../recognizer.ts';
import type { Piece, PieceLengths } from '../../audio/pieces.ts';
import type { Slots } from '../in-pieces.ts';
import type { Answer } from './server-answers.ts';
import type { AnswerFormat } from './client.ts';
import type { SpeechServer } from './speech-server.ts';
import type { DecodedAudio, Hints, RecognizeOptions, Recognizer, Transcript } from '../recognizer.ts';

/**
 * Requests at once, over all jobs of a process. Servers have room for so many, and each further worker process adds as
 * many.
 */
const requestsAtOnce = 4;

/** Retries of one request. Without a Retry-After they are spread over 45 s. */
const defaultRetries = 8;

const checkTimeLimitMs = 5_000;
/** How often a server that is away is asked whether it is back, while somebody wants to know. */
const askAgainMs = 3_000;

const lengthsOf: Record<AnswerFormat, PieceLengths> = {
  verbose_json: { longestMs: 120_000, overlapMs: 1_000 },
  // Speakers are told apart within a piece only, so a piece is as long as servers allow: 25 MB, and 10 minutes at vLLM.
  diarized_json: { longestMs: 590_000, overlapMs: 0, longestPauseMs: Infinity },
  // An answer without times gets the times of its piece, so pieces are short.
  json: { longestMs: 28_000, overlapMs: 0 },
};

export interface OpenAiOptions {
  server: SpeechServer;
  /** Requests at once. */
  slots?: Slots;
  retries?: number;
  /** Wall-clock time for a piece of that length, with all retries. */
  timeLimitMs?: (durationMs: number) => number;
}

/**
 * What one recording has shown of the server. For the next recording the server is asked anew, because one odd answer
 * may be a mistake.
 */
interface Learnt {
  /** Whether the server gives times of words; undefined until it has recognized some. */
  wordTimes: boolean | undefined;
}

/** Recognizes with a server that has OpenAI's `/audio/transcriptions`. The audio leaves this machine. */
export function createOpenAi(options: OpenAiOptions): Recognizer {
  const { server, slots = createSlots(requestsAtOnce), retries = defaultRetries } = options;
  const { timeLimitMs = defaultTimeLimitMs } = options;
  const client = createSpeechClient(server, retries);
  const bestFormat = server.model.endsWith('-diarize') ? 'diarized_json' : 'verbose_json';

  async function hear(
    file: string,
    piece: Piece,
    format: AnswerFormat,
    hints: Hints,
    signal: AbortSignal,
  ): Promise<Answer> {
    const deadline = AbortSignal.timeout(timeLimitMs(piece.heardToMs - piece.heardFromMs));
    const stop = AbortSignal.any([signal, deadline]);
    try {
      const audio = await toFlac(file, piece, stop);
      if (audio === undefined) return { timesOf: 'nothing', utterances: [], language: undefined };
      const said = await client.transcribe(audio, format, hints, stop);
      return readAnswer(said, piece.heardToMs - piece.heardFromMs);
    } catch (cause) {
      signal.throwIfAborted();
      if (deadline.aborted) throw new RecognizerError('timed_out', 'the server took too long', { retryable: true });
      if (cause instanceof RecognizerError) throw cause;
      throw new RecognizerError('recognizer_error', (cause as Error).message, { retryable: true, cause });
    }
  }

  /**
   * Hears a piece. When the answer has no times of words, the piece is heard again without its overlap, or words there
   * would be doubled.
   */
  async function hearOnce(file: string, piece: Piece, format: AnswerFormat, learnt: Learnt, options: RecognizeOptions) {
    const { signal } = options;
    const own = { ...piece, heardFromMs: piece.startMs, heardToMs: piece.endMs };
    const heard = learnt.wordTimes === false ? own : piece;
    const answer = await hear(file, heard, format, options, signal);
    if (isFormatWasted(answer, format, heard, learnt)) throw new FormatRefused('it has no times');
    if (answer.timesOf === 'words') learnt.wordTimes = true;
    else if (answer.timesOf === 'segments' && hasLetters(answer)) learnt.wordTimes ??= false;
    const isShared = heard.heardFromMs < piece.startMs || heard.heardToMs > piece.endMs;
    if (answer.timesOf === 'words' || answer.timesOf === 'nothing' || !isShared) return { piece: heard, answer };
    return { piece: own, answer: await hear(file, own, format, options, signal) };
  }

  async function recognizeIn(
    format: AnswerFormat,
    audio: DecodedAudio,
    options: RecognizeOptions,
  ): Promise<Transcript> {
    const learnt: Learnt = { wordTimes: undefined };
    const hearPiece = (piece: Piece, signal: AbortSignal) =>
      hearOnce(audio.file, piece, format, learnt, { ...options, signal });
    const pieces = await hearInPieces(audio, lengthsOf[format], slots, hearPiece, options);
    const answered = pieces.map(({ result }) => result);
    const transcript = toTranscript(answered, audio.durationMs);
    // Models that know other formats only take the language for a hint, and may rightly find another one.
    const isTold = format === 'verbose_json' && !options.isLanguageExpected;
    if (isTold) refuseOtherLanguage(options.language, transcript.language);
    return { ...transcript, language: transcript.language ?? options.language };
  }

  let askedAt = -Infinity;
  const isKeyRefused = () => {
    askedAt = performance.now();
    return client.refusesKey(AbortSignal.timeout(checkTimeLimitMs));
  };

  return {
    name: 'openai',
    notice() {
      const away = client.unreachable();
      if (away !== undefined && performance.now() - askedAt >= askAgainMs) void isKeyRefused();
      return away;
    },
    // The service starts although the server is away: it may be there for the first job. The log tells if it is not.
    async check() {
      try {
        await findExecutable('ffmpeg');
        await findLimiters();
      } catch (cause) {
        if (!(cause instanceof ExecutableNotFound)) throw cause;
        throw new RecognizerError('recognizer_error', cause.message, { retryable: true, cause });
      }
      if (await isKeyRefused()) {
        const message = `${new URL(server.baseUrl).host} refuses the key. Set OPENAI_API_KEY to one of its keys.`;
        throw new RecognizerError('recognizer_error', message, { retryable: false });
      }
    },

    async recognize(audio, given) {
      const options = { ...given, onProgress: rising(given.onProgress) };
      try {
        return await recognizeIn(bestFormat, audio, options);
      } catch (error) {
        if (!(error instanceof FormatRefused)) throw error;
        return await recognizeIn('json', audio, options);
      }
    },

    close: () => client.close(),
  };
}

/** So long that a server that is busy or away for a moment has time to come back. After that, the queue tries again. */
function defaultTimeLimitMs(durationMs: number): number {
  return 10 * 60_000 + 4 * durationMs;
}

/** Lets progress only rise: a recording that begins again in another format begins at 0. */
function rising(onProgress: RecognizeOptions['onProgress']): (percent: number) => void {
  let last = 0;
  return (percent) => {
    if (percent <= last) return;
    last = percent;
    onProgress?.(percent);
  };
}

const hasLetters = ({ utterances }: Answer) => utterances.flat().some(({ text }) => lettersOf(text).length > 0);

/** Whether the shorter pieces of `json` would give better times than this answer. */
function isFormatWasted(answer: Answer, format: AnswerFormat, heard: Piece, { wordTimes }: Learnt): boolean {
  if (answer.timesOf !== 'text' || !hasLetters(answer)) return false;
  const isLong = heard.heardToMs - heard.heardFromMs > lengthsOf.json.longestMs;
  return isLong && (format === 'diarized_json' || (format === 'verbose_json' && wordTimes === undefined));
}
