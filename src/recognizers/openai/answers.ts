import { RecognizerError } from '../recognizer.ts';
import { toLanguageTag } from './languages.ts';
import { withPunctuation } from './punctuation.ts';
import type { SpokenWord } from '../../segments.ts';

/** What a server heard in a piece. Times are ms from the start of its audio, within it and in order. */
export interface Answer {
  /** How exactly times are known; `nothing`: nothing was said. */
  timesOf: 'words' | 'segments' | 'text' | 'nothing';
  /** By utterance: words, or one text for each segment, or one text. Speakers as the server calls them. */
  utterances: SpokenWord[][];
  /** BCP 47. */
  language: string | undefined;
}

/** Nobody says more in a second; one that is stuck, or hostile, would. */
const mostCharactersPerSecond = 100;

/** A part of its words, or none at all, is what a server has where it couldn't find their times. */
const leastOfText = 0.9;

/** 11 days: older versions of LocalAI count nanoseconds. */
const mostSeconds = 1e6;

/**
 * Reads an answer to `/audio/transcriptions`: `verbose_json`, `diarized_json` and `json`, as the `openai` package declares
 * them, and words within segments, as whisper.cpp's server has them. What can't be read counts as not given.
 * @param durationMs of the audio
 * @throws {RecognizerError} there is no text in it, or more than anybody could say
 */
export function readAnswer(answer: unknown, durationMs: number): Answer {
  const { text, words, segments, language, languages } = fieldsOf(answer);
  const spokenSegments = readTimed(segments, 'text', durationMs);
  const whole = typeof text === 'string' ? text.trim() : spokenSegments?.map((segment) => segment.text).join(' ');
  if (whole === undefined) throw notUnderstood('the server answered something else than a transcript');

  const spokenWords = readWords(words, segments, whole, durationMs);
  const found: Pick<Answer, 'timesOf' | 'utterances'> = spokenWords
    ? { timesOf: 'words', utterances: [spokenWords] }
    : spokenSegments && isMostOf(spokenSegments, whole)
      ? { timesOf: 'segments', utterances: spokenSegments.map((segment) => [segment]) }
      : { timesOf: 'text', utterances: [[{ text: whole, startMs: 0, endMs: durationMs }]] };
  if (charactersOf(found.utterances.flat()) > 1000 + (durationMs / 1000) * mostCharactersPerSecond) {
    throw notUnderstood('the server answered more text than anybody could say');
  }
  const told = toLanguageTag(language) ?? toLanguageTag(fieldsOf(Array.isArray(languages) ? languages[0] : {}).code);
  return whole === '' ? { timesOf: 'nothing', utterances: [], language: undefined } : { ...found, language: told };
}

function readWords(words: unknown, segments: unknown, text: string, durationMs: number): SpokenWord[] | undefined {
  const given = isFilled(words) ? words : isFilled(segments) ? segments.flatMap((each) => fieldsOf(each).words) : [];
  const read = readTimed(given, 'word', durationMs);
  if (!read || !isMostOf(read, text)) return undefined;
  const punctuated = withPunctuation(read, text) ?? read;
  return punctuated.some((word) => /\s/.test(word.text)) ? undefined : punctuated;
}

/** @returns undefined unless there are some, and all of them have a text and times */
function readTimed(list: unknown, textField: 'word' | 'text', durationMs: number): SpokenWord[] | undefined {
  if (!isFilled(list)) return undefined;
  const fields = list.map(fieldsOf);
  const isTimed = (each: Fields) => Number.isFinite(each.start) && Number.isFinite(each.end);
  if (!fields.every((each) => isTimed(each) && typeof each[textField] === 'string')) return undefined;
  const msPerUnit = fields.some(({ end }) => (end as number) > mostSeconds) ? 1e-6 : 1000;

  let earliestMs = 0;
  const inOrder = (time: unknown) => {
    earliestMs = Math.min(durationMs, Math.max(earliestMs, Math.round((time as number) * msPerUnit)));
    return earliestMs;
  };
  return fields
    .map((each) => {
      const startMs = inOrder(each.start);
      // Only starts are in order: two people may speak at once.
      const endMs = Math.min(durationMs, Math.max(startMs, Math.round((each.end as number) * msPerUnit)));
      const { speaker } = each;
      const text = (each[textField] as string).trim();
      return { text, startMs, endMs, ...confidenceOf(each), ...(isName(speaker) && { speaker }) };
    })
    .filter(({ text }) => text !== '');
}

/** Of a word its probability; of a segment the mean of its tokens. vLLM fills in -1 for what it doesn't know. */
function confidenceOf({ probability, avg_logprob: logarithm, compression_ratio: ratio }: Fields) {
  if (typeof probability === 'number' && probability >= 0 && probability <= 1) return { confidence: probability };
  const isGiven = typeof logarithm === 'number' && logarithm < 0 && !(typeof ratio === 'number' && ratio < 0);
  return isGiven ? { confidence: Math.exp(logarithm) } : {};
}

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});
const isFilled = (value: unknown): value is unknown[] => Array.isArray(value) && value.length > 0;
const isName = (value: unknown): value is string => typeof value === 'string' && value !== '';

const charactersOf = (words: readonly SpokenWord[]) => words.reduce((sum, { text }) => sum + text.length, 0);
const isMostOf = (words: readonly SpokenWord[], text: string) =>
  words.length > 0 && charactersOf(words) >= leastOfText * text.replace(/[^\p{L}\p{N}]/gu, '').length;

function notUnderstood(message: string): RecognizerError {
  return new RecognizerError('recognizer_error', message, { retryable: true });
}
