import { RecognizerError } from '../recognizer.ts';
import { toLanguageTag } from './languages.ts';
import { lettersOf, withPunctuation } from './punctuation.ts';
import { unwrapped } from './wrapped-text.ts';
import { withoutUnsaid } from './no-speech.ts';
import type { SpokenWord } from '../../captions/segments.ts';

/** What a server heard in a piece. Times are ms from the start of its audio, within it and in order. */
export interface Answer {
  /** How exact the times are. `nothing` means that nothing was said. */
  timesOf: 'words' | 'segments' | 'text' | 'nothing';
  /** By utterance: words, or one text for each segment, or one text. Speakers have the server's names. */
  utterances: SpokenWord[][];
  /** BCP 47. */
  language: string | undefined;
}

/** Nobody says more in a second. A server that is stuck or hostile may answer more. */
const mostCharactersPerSecond = 100;

/** 11 days. A larger number is in nanoseconds, as older versions of LocalAI send it. */
const mostSeconds = 1e6;

/**
 * Reads an answer to `/audio/transcriptions`: `verbose_json`, `diarized_json` and `json` as the `openai` package
 * declares them, and words within segments as whisper.cpp's server sends them. A value that can't be read counts as
 * missing.
 * @param durationMs of the audio
 * @throws {RecognizerError} there is no text in it, or more than anybody could say
 */
export function readAnswer(answer: unknown, durationMs: number): Answer {
  const { language, languages, ...given } = fieldsOf(answer);
  const written = {
    text: typeof given.text === 'string' ? given.text : undefined,
    segments: isFilled(given.segments) ? given.segments.map(fieldsOf) : undefined,
  };
  const { text, segments, words } = withoutUnsaid(unwrapped(written), given.words);
  const spokenSegments = readTimed(segments, 'text', durationMs);
  const timedWords = readTimed(isFilled(words) ? words : wordsWithin(segments), 'word', durationMs);
  if (text === undefined && !spokenSegments && !timedWords && segments?.length !== 0) {
    throw notUnderstood('the server answered something else than a transcript');
  }
  const timed = spokenSegments?.length ? spokenSegments : timedWords;
  const whole = text?.trim() || textOf(timed ?? []);

  const spokenWords = timedWords && punctuated(timedWords, whole);
  const found: Pick<Answer, 'timesOf' | 'utterances'> = spokenWords
    ? { timesOf: 'words', utterances: [[...spokenWords]] }
    : spokenSegments && holdAll(spokenSegments, whole)
      ? { timesOf: 'segments', utterances: spokenSegments.map((segment) => [segment]) }
      : { timesOf: 'text', utterances: [[{ text: whole, startMs: 0, endMs: durationMs }]] };
  if (charactersOf(found.utterances.flat()) > 1000 + (durationMs / 1000) * mostCharactersPerSecond) {
    throw notUnderstood('the server answered more text than anybody could say');
  }
  const told = toLanguageTag(language) ?? toLanguageTag(fieldsOf(Array.isArray(languages) ? languages[0] : {}).code);
  return whole === '' ? { timesOf: 'nothing', utterances: [], language: undefined } : { ...found, language: told };
}

/** @returns undefined where they are not the words of the text, or where one of them holds a space */
function punctuated(words: readonly SpokenWord[], text: string): readonly SpokenWord[] | undefined {
  if (!holdAll(words, text)) return undefined;
  const written = withPunctuation(words, text) ?? words;
  return written.some((word) => /\s/.test(word.text)) ? undefined : written;
}

/** Whether no word is missing. A server leaves out words whose times it could not find. */
function holdAll(parts: readonly SpokenWord[], text: string): boolean {
  const held = lettersOf(textOf(parts).toUpperCase());
  let next = 0;
  const isHeld = (letter: string) => (next = held.indexOf(letter, next) + 1) > 0;
  return parts.length > 0 && lettersOf(text.toUpperCase()).every(isHeld);
}

const wordsWithin = (segments: unknown) => (isFilled(segments) ? segments.flatMap((each) => fieldsOf(each).words) : []);

/** @returns undefined when there are none, or when one of them lacks its text or its times */
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
      // Only the starts are in order, because two people may speak at once.
      const endMs = Math.min(durationMs, Math.max(startMs, Math.round((each.end as number) * msPerUnit)));
      const { speaker } = each;
      const text = (each[textField] as string).trim();
      return { text, startMs, endMs, ...confidenceOf(each), ...(isName(speaker) && { speaker }) };
    })
    .filter(({ text }) => text !== '');
}

/** A word has its probability; a segment has the mean of its tokens. vLLM sends -1 for what it does not know. */
function confidenceOf({ probability, avg_logprob: logarithm, compression_ratio: ratio }: Fields) {
  if (typeof probability === 'number' && probability >= 0 && probability <= 1) return { confidence: probability };
  const isGiven = typeof logarithm === 'number' && logarithm < 0 && !(typeof ratio === 'number' && ratio < 0);
  return isGiven ? { confidence: Math.exp(logarithm) } : {};
}

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});
const isFilled = (value: unknown): value is unknown[] => Array.isArray(value) && value.length > 0;
const isName = (value: unknown): value is string => typeof value === 'string' && value !== '';

const textOf = (parts: readonly SpokenWord[]) => parts.map(({ text }) => text).join(' ');
const charactersOf = (words: readonly SpokenWord[]) => words.reduce((sum, { text }) => sum + text.length, 0);

function notUnderstood(message: string): RecognizerError {
  return new RecognizerError('recognizer_error', message, { retryable: true });
}
