/** What a server answers to `/audio/transcriptions`, judged by its size first, and read as far as it makes sense. */
import { hasUnspaced, joinWords } from '../../captions/lines.ts';
import { canonicalTag } from '../../languages/tags.ts';
import { whisperLanguages } from '../whisper-languages.ts';
import { isOnlyMarkers } from '../transcript-gaps.ts';
import { RecognizerError } from '../recognizer.ts';
import { holdAll, withPunctuation } from './punctuation.ts';
import { fieldsOf } from './refusal.ts';
import type { Span } from '../../audio/chunks.ts';
import type { SpokenWord } from '../../captions/segment.ts';
import type { TranscribedChunk } from '../join.ts';
import type { Fields } from './refusal.ts';

/** What a server recognized in a chunk. Times are ms from the start of its audio, within it and in order. */
export interface Answer {
  /** How exact the times are. `nothing` means that nothing was said. */
  timesOf: 'words' | 'segments' | 'text' | 'nothing';
  /** By utterance: words, or one text for each segment, or one text. Speakers have the server's names. */
  utterances: SpokenWord[][];
  /** BCP 47. */
  language: string | undefined;
}

/** What was answered to a chunk, with times from the start of the recording. */
export interface AnsweredChunk extends TranscribedChunk<SpokenWord>, Pick<Answer, 'timesOf' | 'language'> {}

/** Nobody says more in a second, nor so much besides. A server that is stuck or hostile may answer more. */
const most = { characters: { each: 100, besides: 1_000 }, words: { each: 25, besides: 100 } };

function isTooMuch(list: readonly unknown[], textField: 'word' | 'text', durationMs: number): boolean {
  const mayBe = ({ each, besides }: { each: number; besides: number }) => besides + (durationMs / 1000) * each;
  if (list.length > mayBe(most.words)) return true;
  const lengthOf = ({ [textField]: text }: Fields) => (typeof text === 'string' ? text.length : 0);
  return list.reduce<number>((sum, each) => sum + lengthOf(fieldsOf(each)), 0) > mayBe(most.characters);
}

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
  const mayBeSaid = (list: readonly unknown[], textField: 'word' | 'text') => {
    if (isTooMuch(list, textField, durationMs))
      throw notUnderstood('the server answered more text than anybody could say');
  };
  mayBeSaid([written], 'text');
  mayBeSaid(written.segments ?? [], 'text');
  mayBeSaid(isFilled(given.words) ? given.words : wordsWithin(written.segments), 'word');
  const { text, segments, words } = withoutUnsaid(unwrapped(written), given.words);
  const spokenSegments = readTimed(segments, 'text', durationMs);
  const timedWords = readTimed(isFilled(words) ? words : wordsWithin(segments), 'word', durationMs);
  if (text === undefined && !spokenSegments && !timedWords && segments?.length !== 0) {
    throw notUnderstood('the server answered something else than a transcript');
  }
  const timed = spokenSegments?.length ? spokenSegments : timedWords;
  const whole = withoutNames(text?.trim() || joinWords(timed ?? []), spokenSegments);

  const spokenWords = timedWords && punctuated(timedWords, whole);
  const found: Pick<Answer, 'timesOf' | 'utterances'> = spokenWords
    ? { timesOf: 'words', utterances: [[...spokenWords]] }
    : spokenSegments && holdAll(spokenSegments, whole)
      ? { timesOf: 'segments', utterances: spokenSegments.map((segment) => [segment]) }
      : { timesOf: 'text', utterances: [[{ text: whole, startMs: 0, endMs: durationMs }]] };
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

const isFilled = (value: unknown): value is unknown[] => Array.isArray(value) && value.length > 0;
const isWritten = <Each extends { text: unknown }>(each: Each): each is Each & { text: string } =>
  typeof each.text === 'string';
const isName = (value: unknown): value is string => typeof value === 'string' && value !== '';

function notUnderstood(message: string): RecognizerError {
  return new RecognizerError('recognizer_error', message, { retryable: true });
}

/** A chunk has few speakers. A hostile server may name thousands. */
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

const nameOf = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });
const alphabet = [...'abcdefghijklmnopqrstuvwxyz'];
const twoLetters = alphabet.flatMap((first) => alphabet.map((second) => canonicalTag(first + second)!));
const tagsByName = new Map([...twoLetters, ...whisperLanguages].map((tag) => [nameOf.of(tag)?.toLowerCase(), tag]));

/**
 * Reads the language of an answer. OpenAI sends a name (`english`), other servers a code (`en`).
 * @returns a BCP 47 tag; undefined when the language is unknown
 */
export function toLanguageTag(language: unknown): string | undefined {
  if (typeof language !== 'string') return undefined;
  const told = language.trim().toLowerCase();
  return whispersOwn[told] ?? tagsByName.get(told) ?? knownTag(told.replaceAll('_', '-'));
}

function knownTag(text: string): string | undefined {
  const tag = canonicalTag(text);
  return tag !== undefined && tag !== 'und' && nameOf.of(tag) !== undefined ? tag : undefined;
}

/** The parts of an answer that hold text. */
interface WrittenParts {
  text: string | undefined;
  /** Each with its text; undefined where there are none. */
  segments: readonly Fields[] | undefined;
}

/**
 * whisper.cpp's server wraps what was said at 60 characters, in the middle of words too. Each line is a segment, and the
 * text of its answer is the segments with a line break after each. Only a space at the beginning of a segment says that
 * a word begins there (examples/server/server.cpp, `output_str`). Such words are put together again: in the text, and in
 * the segment where they begin.
 */
function unwrapped({ text, segments }: WrittenParts): WrittenParts {
  const lines = (segments ?? []).map((segment) => segment.text);
  const isWrapped = lines.length > 0 && lines.every((line) => typeof line === 'string');
  if (!isWrapped || text !== lines.map((line) => `${line}\n`).join('')) return { text, segments };
  const whole = lines.slice();
  for (let index = whole.length - 1; index > 0; index -= 1) {
    const rest = continuation(whole[index - 1]!, whole[index]!);
    whole[index - 1] += rest;
    whole[index] = whole[index]!.slice(rest.length);
  }
  return { text: lines.join(''), segments: segments!.map((segment, index) => ({ ...segment, text: whole[index]! })) };
}

/** What a line begins with that belongs to the last word of the line before it. */
function continuation(before: string, line: string): string {
  const rest = /^\S*/.exec(line)![0];
  const isWhole =
    rest === '' || before === '' || /\s$/.test(before) || hasUnspaced(rest[0]!) || hasUnspaced(before.at(-1)!);
  return isWhole ? '' : rest;
}

/**
 * OpenAI's own rule for what Whisper makes up (`no_speech_threshold` and `logprob_threshold` in
 * https://github.com/openai/whisper/blob/main/whisper/transcribe.py). Of clean speech that faster-whisper heard, it drops
 * 32 of 55 wrong segments and none of 21 right ones; and none of 32 right ones of quiet and noisy speech, of which 8 have
 * more than 0.6. Servers that tell neither lose nothing by it.
 */
const [mostNoSpeech, leastLogProbability] = [0.6, -1];

const isMadeUp = ({ no_speech_prob: noSpeech, avg_logprob: logProbability }: Fields) =>
  typeof noSpeech === 'number' &&
  noSpeech > mostNoSpeech &&
  typeof logProbability === 'number' &&
  logProbability < leastLogProbability;

const isUnsaid = (segment: Fields) =>
  isMadeUp(segment) || (typeof segment.text === 'string' && segment.text.trim() !== '' && isOnlyMarkers(segment.text));

/** Leaves out what was not said: such segments, their words, and their part of the text. */
function withoutUnsaid<Words>({ text, segments }: WrittenParts, words: Words): WrittenParts & { words?: Words } {
  if (segments === undefined)
    return text !== undefined && isOnlyMarkers(text) ? { text: '', segments } : { text, segments, words };
  const unsaid = new Set(segments.filter(isUnsaid));
  if (unsaid.size === 0) return { text, segments, words };
  const said = segments.filter((segment) => !unsaid.has(segment));
  const isSaid = (word: unknown) => ![...unsaid].some((segment) => liesIn(word as Fields, segment));
  return {
    text: text === undefined ? undefined : cutOut(text, segments, unsaid),
    segments: said,
    ...(Array.isArray(words) && { words: words.filter(isSaid) as Words }),
  };
}

/** Whether the middle of a word lies in a segment. */
function liesIn({ start, end }: Fields, segment: Fields): boolean {
  const middle = (Number(start) + Number(end)) / 2;
  return middle >= Number(segment.start) && middle <= Number(segment.end);
}

/** The text is that of its segments, one after the other. The rest of it, such as words beyond them, stays. */
function cutOut(text: string, segments: readonly Fields[], unsaid: ReadonlySet<Fields>): string {
  let [rest, from] = [text, 0];
  for (const segment of segments) {
    const written = typeof segment.text === 'string' ? segment.text.trim() : '';
    const at = rest.indexOf(written, from);
    if (at === -1) continue;
    if (unsaid.has(segment)) rest = rest.slice(0, at) + rest.slice(at + written.length);
    else from = at + written.length;
  }
  return rest;
}

/** A word or a segment, with whatever the server says of its times. */
interface Told {
  text: string;
  start: unknown;
  end: unknown;
}

/** 11 days. A larger number is in nanoseconds, as older versions of LocalAI send it. */
const mostSeconds = 1e6;

/** Nobody takes longer for a word: one without a time of its own does not fill a long pause. */
const longestMsPerCharacter = 150;

/**
 * Starts in order, within the audio. Those that are missing or out of order lie between their neighbours; the others stay
 * as they were told. Only starts are in order, because two people may speak at once.
 * @returns undefined when most have no time
 */
function timesOf(told: readonly Told[], durationMs: number): Span[] | undefined {
  const known = told.filter(isTimed);
  if (known.length * 2 <= told.length) return undefined;
  const large = known.filter(({ end }) => end > mostSeconds).length;
  const msPerUnit = large * 2 > known.length ? 1e-6 : 1000;
  const inAudio = (time: number) => Math.min(durationMs, Math.max(0, Math.round(time * msPerUnit)));
  const spans = told.map((each): Span | undefined => {
    if (!isTimed(each)) return undefined;
    const startMs = inAudio(each.start);
    return { startMs, endMs: Math.max(startMs, inAudio(each.end)) };
  });
  return withGapsFilled(inOrder(spans), told, durationMs);
}

const isTimed = <Each extends Told>(each: Each): each is Each & { start: number; end: number } =>
  Number.isFinite(each.start) && Number.isFinite(each.end);

/** The most spans whose starts are in order (the longest non-decreasing subsequence). The others become undefined. */
function inOrder(spans: readonly (Span | undefined)[]): (Span | undefined)[] {
  /** Of each length, the index of the span that ends such a sequence earliest. */
  const ends: number[] = [];
  const before: (number | undefined)[] = [];
  spans.forEach((span, index) => {
    if (span === undefined) return;
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (spans[ends[middle]!]!.startMs <= span.startMs) low = middle + 1;
      else high = middle;
    }
    before[index] = ends[low - 1];
    ends[low] = index;
  });
  const kept = new Set<number>();
  for (let index = ends.at(-1); index !== undefined; index = before[index]) kept.add(index);
  return spans.map((span, index) => (kept.has(index) ? span : undefined));
}

/** They follow what is before them; where nothing is, they begin with what comes after them. */
function withGapsFilled(spans: readonly (Span | undefined)[], told: readonly Told[], durationMs: number): Span[] {
  let lastMs = Infinity;
  let next = 0;
  return spans.map((span, index) => {
    while (next <= index || (next < spans.length && spans[next] === undefined)) next += 1;
    const nextMs = spans[next]?.startMs ?? durationMs;
    const startMs = Math.min(lastMs, nextMs);
    const longestMs = told[index]!.text.length * longestMsPerCharacter;
    const filled = span ?? { startMs, endMs: Math.min(nextMs, startMs + longestMs) };
    lastMs = filled.endMs;
    return filled;
  });
}
