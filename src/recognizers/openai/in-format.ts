/** Recognizes a recording by a server's answers in one format. */
import { cutSpeechIntoPieces } from '../../audio/pieces.ts';
import { totalMs } from '../../audio/spans.ts';
import { transcribeAgain } from '../transcribe-again.ts';
import { isWithin, laterBy, piecesOf, processPieces } from '../in-pieces.ts';
import { PieceRefused, RecognizerError } from '../recognizer.ts';
import { voiceIn } from '../spoken.ts';
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

/**
 * Whether the server gives times of words; undefined until it has recognized some. For the next recording it is asked
 * anew, because one odd answer may be a mistake.
 */
interface Learnt {
  wordTimes: boolean | undefined;
}

/** A voice that was refused for longer than that is worth another attempt. */
const mostRefusedMs = 3_000;

/**
 * What the server refuses is asked for again, in short pieces, when the rest is done. It may break at long ones, as
 * speaches does where nobody speaks for 30 s ("No clip timestamps found").
 * @param isNear whether the server is on this machine or in its network
 * @throws {FormatRefused} another format would tell more
 * @throws {LanguageNotKnown}
 * @throws {RecognizerError}
 * @throws the abort reason of `options.signal`
 */
export async function recognizeIn(
  format: AnswerFormat,
  audio: DecodedAudio,
  options: RecognizeOptions,
  client: SpeechClient,
  isNear: boolean,
): Promise<Transcript> {
  const learnt: Learnt = { wordTimes: undefined };
  let introduction: VoiceSamples | undefined;

  const hearPiece: TranscribePiece<AnsweredPiece> = async (piece, signal, _onHeard, span, earlier = 0) => {
    // A stretch without words in the session's language may be in another one.
    const language = earlier < 2 ? options.language : undefined;
    const told = { ...options, language, signal, span, knownSpeakers: introduction?.speakers };
    const heard = await hearOnce({ file: audio.file, format, client, isNear, learnt, told }, piece);
    if (format === 'diarized_json' && introduction === undefined && hasLetters(heard.answer)) {
      introduction = { piece, speakers: await sampleVoices(audio.file, heard, signal) };
    }
    return heard;
  };
  const lengths = pieceLengths(format, options.language);
  // Without a voice detector, words that are repeated, each with its own time, may really have been said.
  const judging = { audio, overlapMs: lengths.overlapMs, saidIn, only, mayLoop: audio.speech !== undefined };
  const hearWell = transcribeAgain(hearPiece, judging, options.onUncertain);

  let refused: { piece: Piece; error: PieceRefused }[] = [];
  const hearOrLeave: TranscribePiece<HeardPart<AnsweredPiece>[]> = async (piece, ...rest) =>
    hearWell(piece, ...rest).catch((error: unknown) => {
      if (!(error instanceof PieceRefused)) throw error;
      refused.push({ piece, error });
      return [];
    });
  const slots = client.requests.slotsOf(options.owner ?? '');
  const isFirst = (heard: readonly HeardPart<AnsweredPiece>[][]) =>
    format === 'diarized_json' && !heard.flat().some(({ result }) => hasLetters(result.answer));
  const pieces = await processPieces(piecesOf(audio, lengths), slots, hearOrLeave, options, isFirst);
  // It failed at all that it got: that says nothing of the recording.
  if (refused.length > 0 && refused.length === pieces.length) throw refused[0]!.error;
  const short = { longestMs: shortMs, overlapMs: 0 };
  const again = refused.flatMap(({ piece }) => cutSpeechIntoPieces([piece], audio.silences, short));
  refused = [];
  pieces.push(...(await processPieces(again, slots, hearOrLeave, options)));
  pieces.sort((one, other) => one.piece.startMs - other.piece.startMs);
  const refusedMs = refused.reduce((sum, { piece }) => sum + totalMs(voiceIn(audio, piece)), 0);
  if (refusedMs > mostRefusedMs) throw refused[0]!.error;
  for (const { piece } of refused)
    options.onUncertain?.({ startMs: piece.startMs, endMs: piece.endMs, why: 'refused' });

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

interface Hearing {
  file: string;
  format: AnswerFormat;
  client: SpeechClient;
  isNear: boolean;
  learnt: Learnt;
  told: PieceHints & Pick<RecognizeOptions, 'signal' | 'span'>;
}

/**
 * Hears a piece. When the answer has no times of words, the piece is heard again without its overlap, or words there
 * would be doubled.
 */
async function hearOnce(hearing: Hearing, piece: Piece): Promise<AnsweredPiece> {
  const { format, learnt } = hearing;
  const own = { ...piece, windowStartMs: piece.startMs, windowEndMs: piece.endMs };
  const heard = learnt.wordTimes === false ? own : piece;
  const answer = await hear(hearing, heard);
  const isShared = heard.windowStartMs < piece.startMs || heard.windowEndMs > piece.endMs;
  if (isFormatWasted(answer, format, heard, isShared, learnt)) throw new FormatRefused('it has no times');
  if (answer.timesOf === 'words') learnt.wordTimes = true;
  else if (answer.timesOf === 'segments' && hasLetters(answer)) learnt.wordTimes ??= false;
  if (answer.timesOf === 'words' || answer.timesOf === 'nothing' || !isShared)
    return { piece: heard, answer, own: heard };
  return { piece: own, own, answer: await hear(hearing, own) };
}

async function hear({ file, format, client, isNear, told }: Hearing, piece: Piece): Promise<Answer> {
  const { signal, span, ...hints } = told;
  const audioMs = piece.windowEndMs - piece.windowStartMs;
  try {
    const audio = await soundOf(file, piece, isNear, signal);
    if (audio === undefined) return { timesOf: 'nothing', utterances: [], language: undefined };
    const asking = { audioMs, hints, signal, traceparent: span && traceparentOf(span) };
    return readAnswer(await client.transcribe(audio, format, asking), audioMs);
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
