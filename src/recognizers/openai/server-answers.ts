import { RecognizerError } from '../recognizer.ts';
import { holdAll, textOf, withPunctuation } from './punctuation.ts';
import { timesOf } from './told-times.ts';
import { unwrapped, withoutUnsaid } from './written-parts.ts';
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

/**
 * Reads an answer to `/audio/transcriptions`: `verbose_json`, `diarized_json` and `json` as OpenAI
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
  const whole = withoutNames(text?.trim() || textOf(timed ?? []), spokenSegments);

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

const wordsWithin = (segments: unknown) => (isFilled(segments) ? segments.flatMap((each) => fieldsOf(each).words) : []);

/** @returns undefined when there are none, when one of them lacks its text, or when most lack their times */
function readTimed(list: unknown, textField: 'word' | 'text', durationMs: number): SpokenWord[] | undefined {
  if (!isFilled(list)) return undefined;
  const fields = list.map(fieldsOf);
  const told = fields.map(({ [textField]: text, start, end }) => ({ text, start, end }));
  if (!told.every(isWritten)) return undefined;
  const times = timesOf(told, durationMs);
  return times
    ?.map((time, index): SpokenWord => {
      const { speaker, ...each } = fields[index]!;
      const text = told[index]!.text.trim();
      return { text, ...time, ...confidenceOf(each), ...(isName(speaker) && { speaker }) };
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
const isWritten = <Each extends { text: unknown }>(each: Each): each is Each & { text: string } =>
  typeof each.text === 'string';
const isName = (value: unknown): value is string => typeof value === 'string' && value !== '';

const charactersOf = (words: readonly SpokenWord[]) => words.reduce((sum, { text }) => sum + text.length, 0);

function notUnderstood(message: string): RecognizerError {
  return new RecognizerError('recognizer_error', message, { retryable: true });
}

/** A piece has few speakers. A hostile server may name thousands. */
const mostNames = 50;

/**
 * Some servers write who speaks into the text, as in `A: Good morning.`, and say it in the segments, too. There the
 * names are no words.
 * @param segments undefined where there are none
 * @returns the text as it is, unless the segments hold all of it but for the names
 */
function withoutNames(text: string, segments: readonly SpokenWord[] | undefined): string {
  if (segments === undefined || holdAll(segments, text)) return text;
  const names = [...new Set(segments.flatMap(({ speaker }) => speaker ?? []))].slice(0, mostNames);
  // A name may be the end of a longer one.
  names.sort((a, b) => b.length - a.length);
  const forms = names.flatMap((name) => [`[${name}]:`, `(${name}):`, `[${name}]`, `(${name})`, `${name}:`]);
  const bare = forms.reduce((rest, form) => rest.replaceAll(form, ''), text).trim();
  return holdAll(segments, bare) ? bare : text;
}

/** Languages that Whisper calls by another name than Unicode's tables. */
const whispersOwn: Record<string, string> = {
  bengali: 'bn',
  maori: 'mi',
  myanmar: 'my',
  nynorsk: 'nn',
  tagalog: 'fil',
};

const alphabet = [...'abcdefghijklmnopqrstuvwxyz'];
/** The codes of two letters, and the languages of Whisper that have none. */
const codes = [...alphabet.flatMap((first) => alphabet.map((second) => first + second)), 'haw', 'yue', 'fil'];
const nameOf = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });
const codesByName = new Map(codes.map((code) => [nameOf.of(code)?.toLowerCase(), canonical(code)] as const));

/**
 * Reads the language of an answer. OpenAI sends a name (`english`), other servers a code (`en`).
 * @returns a BCP 47 tag; undefined when the language is unknown
 */
export function toLanguageTag(language: unknown): string | undefined {
  if (typeof language !== 'string') return undefined;
  const told = language.trim().toLowerCase();
  return whispersOwn[told] ?? codesByName.get(told) ?? knownTag(told);
}

function knownTag(text: string): string | undefined {
  const tag = /^[a-z]{2,3}([-_][a-z0-9]{2,8}){0,3}$/.test(text) ? canonical(text.replaceAll('_', '-')) : undefined;
  return tag !== undefined && tag !== 'und' && nameOf.of(tag) !== undefined ? tag : undefined;
}

function canonical(tag: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(tag)[0];
  } catch {
    return undefined;
  }
}
