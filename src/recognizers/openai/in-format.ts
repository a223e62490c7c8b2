/** Recognizes a recording by a server's answers in one format. */
import { transcribeAgain } from '../transcribe-again.ts';
import { processInPieces, isWithin, laterBy } from '../in-pieces.ts';
import { PieceRefused, RecognizerError } from '../recognizer.ts';
import { traceparentOf } from '../../tracing/tracing.ts';
import { FormatRefused } from './client.ts';
import { refuseOtherLanguage } from './hints.ts';
import { sampleVoices, withLastingNames } from './known-speakers.ts';
import { lettersOf } from './punctuation.ts';
import { soundOf } from './sound.ts';
import { readAnswer } from './server-answers.ts';
import { toTranscript } from './transcript.ts';
import type { Piece, PieceLengths } from '../../audio/pieces.ts';
import type { TranscribePiece, HeardPart } from '../transcribe-again.ts';
import type { DecodedAudio, RecognizeOptions, Transcript } from '../recognizer.ts';
import type { AnswerFormat, SpeechClient } from './client.ts';
import type { PieceHints } from './hints.ts';
import type { VoiceSamples } from './known-speakers.ts';
import type { Requests } from './requests.ts';
import type { Answer } from './server-answers.ts';
import type { AnsweredPiece } from './transcript.ts';

/** Whisper hears 30 s at a time: with the overlap at both ends, one such time. */
const shortMs = 28_000;
/** Whisper takes a third more work for short pieces. */
const longMs = 120_000;

/**
 * A server finds one language for each piece, and what is said in another one is lost. So where nobody says which language
 * it is, pieces are short.
 */
function pieceLengths(format: AnswerFormat, language: string | undefined): PieceLengths {
  // Speakers are told apart best within a piece, so a piece is as long as servers allow: 25 MB, and 10 minutes at vLLM.
  if (format === 'diarized_json') return { longestMs: 590_000, overlapMs: 0, longestPauseMs: Infinity };
  // An answer without times gets the times of its piece.
  if (format !== 'verbose_json') return { longestMs: shortMs, overlapMs: 0 };
  return { longestMs: language === undefined ? shortMs : longMs, overlapMs: 1_000 };
}

export interface ServerInUse {
  client: SpeechClient;
  requests: Requests;
  /** Whether it is on this machine or in its network. */
  isNear: boolean;
  /** Wall-clock time for a piece of that length, with all retries. */
  timeLimitMs: (durationMs: number) => number;
}

/**
 * What one recording has shown of the server. For the next recording the server is asked anew, because one odd answer
 * may be a mistake.
 */
interface Learnt {
  /** Whether the server gives times of words; undefined until it has recognized some. */
  wordTimes: boolean | undefined;
  isAnswered?: true;
  /** The last piece at which it broke while it heard silence. */
  refused?: PieceRefused;
}

/**
 * @throws {FormatRefused} another format would tell more
 * @throws {LanguageNotKnown}
 * @throws {RecognizerError}
 * @throws the abort reason of `options.signal`
 */
export async function recognizeIn(
  format: AnswerFormat,
  audio: DecodedAudio,
  options: RecognizeOptions,
  server: ServerInUse,
): Promise<Transcript> {
  const learnt: Learnt = { wordTimes: undefined };
  let introduction: VoiceSamples | undefined;

  const hearPiece: TranscribePiece<AnsweredPiece> = async (piece, signal, _onHeard, span, earlier = 0) => {
    // A stretch without words in the session's language may be in another one.
    const language = earlier < 2 ? options.language : undefined;
    const told = { ...options, language, signal, span, knownSpeakers: introduction?.speakers };
    const heard = await hearOnce(audio.file, piece, format, learnt, told, server).catch((error: unknown) => {
      if (error instanceof PieceRefused) learnt.refused = error;
      throw error;
    });
    learnt.isAnswered = true;
    if (format === 'diarized_json' && introduction === undefined && hasLetters(heard.answer)) {
      introduction = { piece, speakers: await sampleVoices(audio.file, heard, signal) };
    }
    return heard;
  };
  const slots = server.requests.slotsOf(options.owner ?? '');
  const isFirst = (heard: readonly HeardPart<AnsweredPiece>[][]) =>
    format === 'diarized_json' && !heard.flat().some(({ result }) => hasLetters(result.answer));
  const lengths = pieceLengths(format, options.language);
  // Without a voice detector, words that are repeated, each with its own time, may really have been said.
  const judging = { audio, overlapMs: lengths.overlapMs, saidIn, only, mayLoop: audio.speech !== undefined };
  const hearWell = transcribeAgain(hearPiece, judging, options.onUncertain);
  const pieces = await processInPieces(audio, lengths, slots, hearWell, options, isFirst);
  // It broke at all that it got: that says nothing of the recording.
  if (learnt.refused !== undefined && !learnt.isAnswered) throw learnt.refused;
  const answered = pieces.flatMap(({ result }) => result.map((part) => ({ ...part.result, own: ownOf(part) })));
  const transcript = toTranscript(withLastingNames(answered, introduction), audio);
  // Models that know other formats only take the language for a hint, and may rightly find another one.
  const isTold = format === 'verbose_json' && !options.isLanguageExpected;
  if (isTold) refuseOtherLanguage(options.language, transcript.language);
  return { ...transcript, language: transcript.language ?? options.language };
}

const saidIn = ({ piece, answer }: AnsweredPiece) =>
  answer.utterances.flat().map((word) => laterBy(piece.windowStartMs, word));

function only({ piece, answer, own }: AnsweredPiece, fromMs: number, toMs: number): AnsweredPiece {
  const utterances = answer.utterances.map((words) =>
    words.filter((word) => isWithin(laterBy(piece.windowStartMs, word), fromMs, toMs)),
  );
  return { piece, own, answer: { ...answer, utterances } };
}

/** What a part stands for, as far as the server heard it. */
const ownOf = ({ piece, result }: HeardPart<AnsweredPiece>): Piece => ({
  ...piece,
  windowStartMs: Math.max(piece.windowStartMs, result.piece.windowStartMs),
  windowEndMs: Math.min(piece.windowEndMs, result.piece.windowEndMs),
});

type PieceOptions = PieceHints & Pick<RecognizeOptions, 'signal' | 'span'>;

/**
 * Hears a piece. When the answer has no times of words, the piece is heard again without its overlap, or words there
 * would be doubled.
 */
async function hearOnce(
  file: string,
  piece: Piece,
  format: AnswerFormat,
  learnt: Learnt,
  options: PieceOptions,
  server: ServerInUse,
): Promise<AnsweredPiece> {
  const own = { ...piece, windowStartMs: piece.startMs, windowEndMs: piece.endMs };
  const heard = learnt.wordTimes === false ? own : piece;
  const answer = await hear(file, heard, format, options, server);
  const isShared = heard.windowStartMs < piece.startMs || heard.windowEndMs > piece.endMs;
  if (isFormatWasted(answer, format, heard, isShared, learnt)) throw new FormatRefused('it has no times');
  if (answer.timesOf === 'words') learnt.wordTimes = true;
  else if (answer.timesOf === 'segments' && hasLetters(answer)) learnt.wordTimes ??= false;
  if (answer.timesOf === 'words' || answer.timesOf === 'nothing' || !isShared)
    return { piece: heard, answer, own: heard };
  return { piece: own, own, answer: await hear(file, own, format, options, server) };
}

async function hear(
  file: string,
  piece: Piece,
  format: AnswerFormat,
  { signal, span, ...hints }: PieceOptions,
  { client, requests, timeLimitMs, isNear }: ServerInUse,
): Promise<Answer> {
  const audioMs = piece.windowEndMs - piece.windowStartMs;
  try {
    const audio = await soundOf(file, piece, isNear, signal);
    if (audio === undefined) return { timesOf: 'nothing', utterances: [], language: undefined };
    const request = { audioMs, limitMs: timeLimitMs(audioMs), signal };
    const answer = await requests.answer(request, (stop, inTurn) =>
      client.transcribe(audio, format, { hints, signal: stop, traceparent: span && traceparentOf(span), inTurn }),
    );
    return readAnswer(answer, audioMs);
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof RecognizerError) throw cause;
    throw new RecognizerError('recognizer_error', (cause as Error).message, { retryable: true, cause });
  }
}

const hasLetters = ({ utterances }: Answer) => utterances.flat().some(({ text }) => lettersOf(text).length > 0);

/** Whether pieces of `json`, which are short and have no overlap, would give better times than this answer. */
function isFormatWasted(answer: Answer, format: AnswerFormat, heard: Piece, isShared: boolean, { wordTimes }: Learnt) {
  if (answer.timesOf !== 'text' || !hasLetters(answer)) return false;
  const isLong = heard.windowEndMs - heard.windowStartMs > shortMs;
  if (format === 'verbose_json') return (isLong || isShared) && wordTimes === undefined;
  return format === 'diarized_json' && isLong;
}
