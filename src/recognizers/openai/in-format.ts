/** Recognizes a recording by a server's answers in one format. */
import { cutSpeechIntoChunks } from '../../audio/chunks.ts';
import { laterBy, totalMs } from '../../audio/spans.ts';
import { segmentsFromTexts, segmentsFromUtterances } from '../../captions/segments.ts';
import { joinChunks } from '../join.ts';
import { mostSpoken, nameSpeakers } from '../whole-recording.ts';
import { retryGaps } from '../retry-gaps.ts';
import { chunksOf, processChunks } from '../in-chunks.ts';
import { ChunkRefused, RecognizerError } from '../recognizer.ts';
import { spokenIn, voiceIn } from '../spoken.ts';
import { traceparentOf } from '../../tracing/tracing.ts';
import { FormatRefused } from './client.ts';
import { refuseOtherLanguage } from './hints.ts';
import { sampleVoices, withLastingNames, withOwnNames } from './known-speakers.ts';
import { lettersOf } from './punctuation.ts';
import { encodeChunk } from './encode-chunk.ts';
import { readAnswer } from './server-answers.ts';
import type { Chunk, ChunkLengths, Span } from '../../audio/chunks.ts';
import type { Segment, SpokenWord } from '../../captions/segment.ts';
import type { AnsweredChunk } from './server-answers.ts';
import type { ProcessChunk } from '../retry-gaps.ts';
import type { DecodedAudio, RecognizeOptions, Transcript } from '../recognizer.ts';
import type { AnswerFormat, SpeechClient } from './client.ts';
import type { ChunkHints } from './hints.ts';
import type { VoiceSamples } from './known-speakers.ts';

/** Whisper takes 30 s at a time: with the overlap at both ends, one such time. */
const shortMs = 28_000;
/** Whisper takes a third more work for short chunks. */
const longMs = 120_000;

/**
 * A server finds one language for each chunk, and what is said in another one is lost. So where no language is set
 * it is, chunks are short.
 */
function chunkLengths(format: AnswerFormat, language: string | undefined): ChunkLengths {
  // Speakers are told apart best within a chunk, so a chunk is as long as servers allow: 25 MB, and 10 minutes at vLLM.
  if (format === 'diarized_json') return { longestMs: 590_000, overlapMs: 0, longestPauseMs: Infinity };
  // An answer without times gets the times of its chunk.
  if (format !== 'verbose_json') return { longestMs: shortMs, overlapMs: 0 };
  return { longestMs: language === undefined ? shortMs : longMs, overlapMs: 1_000 };
}

/** A voice that was refused for longer than that is worth another attempt. */
const mostRefusedMs = 3_000;

/**
 * What the server refuses is asked for again, in short chunks, when the rest is done. It may break at long ones, as
 * speaches does after 30 s without speech ("No clip timestamps found").
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
): Promise<Transcript> {
  const learnt: ChunkRequest['learnt'] = { wordTimes: undefined };
  let introduction: VoiceSamples | undefined;

  const hearChunk: ProcessChunk<AnsweredChunk> = async (chunk, signal, span, earlier = 0) => {
    // A stretch without words in the session's language may be in another one.
    const language = earlier < 2 ? options.language : undefined;
    const told = { ...options, language, signal, span, knownSpeakers: introduction?.speakers };
    const answered = await transcribeChunk({ file: audio.file, format, client, learnt, told }, chunk);
    if (format !== 'diarized_json') return answered;
    const heard = withOwnNames(answered, told.knownSpeakers);
    if (hasLetters(heard)) introduction ??= { chunk, speakers: await sampleVoices(audio.file, heard) };
    return heard;
  };
  const lengths = chunkLengths(format, options.language);
  // Without a voice detector, words that are repeated, each with its own time, may really have been said.
  const checks = { audio, overlapMs: lengths.overlapMs, mayLoop: audio.speech !== undefined };
  const hearWell = retryGaps(hearChunk, checks, options.onUncertain);

  let refused: { chunk: Chunk; error: ChunkRefused }[] = [];
  const hearOrLeave: ProcessChunk<AnsweredChunk[]> = async (chunk, ...rest) =>
    hearWell(chunk, ...rest).catch((error: unknown) => {
      if (!(error instanceof ChunkRefused)) throw error;
      refused.push({ chunk, error });
      return [];
    });
  const slots = client.requests.slotsOf(options.owner ?? '');
  const isFirst = (heard: readonly AnsweredChunk[][]) => format === 'diarized_json' && !heard.flat().some(hasLetters);
  const chunks = await processChunks(chunksOf(audio, lengths), slots, hearOrLeave, options, isFirst);
  // It failed at all that it got: that says nothing of the recording.
  if (refused.length > 0 && refused.length === chunks.length) throw refused[0]!.error;
  const short = { longestMs: shortMs, overlapMs: 0 };
  const again = refused.flatMap(({ chunk }) => cutSpeechIntoChunks([chunk], audio.silences, short));
  refused = [];
  chunks.push(...(await processChunks(again, slots, hearOrLeave, options)));
  chunks.sort((one, other) => one.chunk.startMs - other.chunk.startMs);
  const refusedMs = refused.reduce((sum, { chunk }) => sum + totalMs(voiceIn(audio, chunk)), 0);
  if (refusedMs > mostRefusedMs) throw refused[0]!.error;
  for (const { chunk } of refused)
    options.onUncertain?.({ startMs: chunk.startMs, endMs: chunk.endMs, why: 'refused' });

  const answered = chunks.flatMap(({ result }) => result);
  const transcript = toTranscript(withLastingNames(answered, introduction), audio);
  // Models that know other formats only take the language for a hint, and may rightly find another one.
  const isTold = format === 'verbose_json' && !options.isLanguageExpected;
  if (isTold) refuseOtherLanguage(options.language, transcript.language);
  return { ...transcript, language: transcript.language ?? options.language };
}

interface ChunkRequest {
  file: string;
  format: AnswerFormat;
  client: SpeechClient;
  /**
   * Whether the server gives times of words; undefined until it has recognized some. For the next recording it is asked
   * anew, because one odd answer may be a mistake.
   */
  learnt: { wordTimes: boolean | undefined };
  told: ChunkHints & Pick<RecognizeOptions, 'signal' | 'span'>;
}

/**
 * Transcribes a chunk. When the answer has no times of words, the chunk is recognized again without its overlap, or words there
 * would be doubled.
 */
async function transcribeChunk(request: ChunkRequest, chunk: Chunk): Promise<AnsweredChunk> {
  const { learnt } = request;
  const own = { ...chunk, windowStartMs: chunk.startMs, windowEndMs: chunk.endMs };
  const heard = await requestChunk(request, learnt.wordTimes === false ? own : chunk);
  const { windowStartMs, windowEndMs } = heard.chunk;
  const isShared = windowStartMs < chunk.startMs || windowEndMs > chunk.endMs;
  if (isFormatWasted(heard, request, isShared)) throw new FormatRefused('it has no times');
  if (heard.timesOf === 'words') learnt.wordTimes = true;
  else if (heard.timesOf === 'segments' && hasLetters(heard)) learnt.wordTimes ??= false;
  const isExact = heard.timesOf === 'words' || heard.timesOf === 'nothing';
  return isExact || !isShared ? heard : requestChunk(request, own);
}

async function requestChunk({ file, format, client, told }: ChunkRequest, chunk: Chunk): Promise<AnsweredChunk> {
  const { signal, span, ...hints } = told;
  const audioMs = chunk.windowEndMs - chunk.windowStartMs;
  try {
    const audio = await encodeChunk(file, chunk);
    if (audio === undefined) return { chunk, timesOf: 'nothing', utterances: [], language: undefined };
    const asking = { audioMs, hints, signal, traceparent: span && traceparentOf(span) };
    const answer = readAnswer(await client.transcribe(audio, format, asking), audioMs);
    const inRecording = (word: SpokenWord) => laterBy(chunk.windowStartMs, word);
    return { ...answer, chunk, utterances: answer.utterances.map((words) => words.map(inRecording)) };
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof RecognizerError) throw cause;
    throw new RecognizerError('recognizer_error', (cause as Error).message, { retryable: true, cause });
  }
}

const hasLetters = ({ utterances }: AnsweredChunk) => utterances.flat().some(({ text }) => lettersOf(text).length > 0);

/** Whether chunks of `json`, which are short and have no overlap, would give better times than this answer. */
function isFormatWasted(heard: AnsweredChunk, { format, learnt }: ChunkRequest, isShared: boolean) {
  if (heard.timesOf !== 'text' || !hasLetters(heard)) return false;
  const isLong = heard.chunk.windowEndMs - heard.chunk.windowStartMs > shortMs;
  if (format === 'verbose_json') return (isLong || isShared) && learnt.wordTimes === undefined;
  return format === 'diarized_json' && isLong;
}

/**
 * Joins what a server answered to the chunks of a recording.
 * @param heard in order of time; a speaker has one name in all of them
 */
function toTranscript(heard: readonly AnsweredChunk[], audio: DecodedAudio): Transcript {
  const spoken = segmentsFromUtterances(joinChunks(heard, true), audio.durationMs);
  const segments = nameSpeakers(withoutUntimedWords(spoken, heard, audio));
  const texts = heard.flatMap(({ utterances, language }) => utterances.flat().map(({ text }) => ({ language, text })));
  const language = mostSpoken(texts);
  return { segments, ...(language !== undefined && { language }) };
}

/** Removes the words of chunks that have no times of words: they are texts of several words. */
function withoutUntimedWords(segments: readonly Segment[], heard: readonly AnsweredChunk[], audio: DecodedAudio) {
  const spoken = (stretch: Span) => spokenIn(audio, stretch);
  const untimed = heard.filter(({ timesOf }) => timesOf === 'segments' || timesOf === 'text');
  let next = 0;
  // Both are in order, so each chunk is looked at once: a day has thousands of each.
  const isUntimed = ({ startMs, endMs }: Segment) => {
    const middleMs = (startMs + endMs) / 2;
    while (next < untimed.length && untimed[next]!.chunk.endMs < middleMs) next += 1;
    return next < untimed.length && untimed[next]!.chunk.startMs <= middleMs;
  };
  return segments
    .flatMap((segment) => (isUntimed(segment) ? segmentsFromTexts([segment], audio.durationMs, spoken) : [segment]))
    .map((segment, index) => ({ ...segment, index }));
}
