/** What is wrong with a text: it is only about sounds, it lacks words, or the same words come on and on. */
import { deflateSync } from 'node:zlib';
import { totalMs, overlapping } from '../audio/spans.ts';
import type { Chunk, Span } from '../audio/chunks.ts';
import type { Word } from '../captions/segment.ts';
import type { DecodedAudio } from './recognizer.ts';

/** In so much of a voice there is a word, unless somebody sings or only laughs. */
const leastVoiceMs = 1_000;
/** A voice that is so near to a word belongs to it: times of words are off, and a voice lasts longer than its words. */
const ofWordMs = 500;
/**
 * Whisper skips a speech of 8 s, and stretches the sentence after it over that time. So of this much of a voice, under a
 * text that takes less time to say, there is more to hear.
 */
const leastUnsaidMs = 2_000;
/** Slow speech takes so long for a letter; for a digit, and a letter of a script that writes syllables, several times. */
const [letterMs, syllableMs] = [150, 600];
const syllable = /[\p{N}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;
/** What is so near to a voice is recognized again, too. */
const nearMs = 500;

export interface TranscriptGap extends Span {
  why: 'no words' | 'few words' | 'a loop';
}

/**
 * @param said words or longer texts, in any order; a text without times of its own has those of the chunk
 * @param mayLoop whether the recognizer may say the same words on and on
 * @returns in order, none touching another
 */
export function findGaps(
  chunk: Chunk,
  said: readonly Word[],
  { speech }: DecodedAudio,
  mayLoop: boolean,
): TranscriptGap[] {
  const inOrder = [...said].sort((one, other) => one.startMs - other.startMs);
  const looping = mayLoop ? loopingOf(inOrder) : [];
  const thin = inOrder.filter((word) => isThin(word, speech));
  const bad = new Set([...looping, ...thin]);
  return gapsBetween(
    inOrder.filter((word) => !bad.has(word)),
    chunk,
  ).flatMap((gap): TranscriptGap[] => {
    if (looping.some((word) => overlaps(word, gap))) return [{ ...gap, why: 'a loop' }];
    if (thin.some((word) => overlaps(word, gap))) return [{ ...gap, why: 'few words' }];
    const farFromWords = {
      startMs: gap.startMs + (gap.startMs > chunk.startMs ? ofWordMs : 0),
      endMs: gap.endMs - (gap.endMs < chunk.endMs ? ofWordMs : 0),
    };
    const voices = overlapping(speech ?? [], farFromWords);
    return totalMs(voices) < leastVoiceMs ? [] : [{ ...around(voices, gap), why: 'no words' }];
  });
}

/** @param words in order of their starts */
function gapsBetween(words: readonly Word[], { startMs, endMs }: Span): Span[] {
  let fromMs = startMs;
  const gaps = [...words, { startMs: endMs, endMs }].map((word) => {
    const gap = { startMs: fromMs, endMs: Math.min(word.startMs, endMs) };
    fromMs = Math.max(fromMs, word.endMs);
    return gap;
  });
  return gaps.filter((gap) => gap.startMs < gap.endMs);
}

/** How long it takes to say a text slowly. */
export function slowlyMs(text: string): number {
  const syllables = text.match(syllable)?.length ?? 0;
  const all = text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
  return syllables * syllableMs + (all - syllables) * letterMs;
}

const isThin = (word: Word, speech: readonly Span[] = []) =>
  totalMs(overlapping(speech, word)) - slowlyMs(word.text) >= leastUnsaidMs;

const overlaps = (one: Span, other: Span) => one.startMs < other.endMs && one.endMs > other.startMs;

const around = (voices: readonly Span[], gap: Span): Span => ({
  startMs: Math.max(gap.startMs, voices[0]!.startMs - nearMs),
  endMs: Math.min(gap.endMs, voices.at(-1)!.endMs + nearMs),
});

/**
 * Whisper's own rule: a text that zlib makes so much smaller says the same on and on (`compression_ratio_threshold` in
 * https://github.com/openai/whisper/blob/main/whisper/transcribe.py).
 */
const mostCompressed = 2.4;
/**
 * What is only built alike is no loop: of the 400 characters from "It was the best of times, it was the worst of times"
 * on, zlib leaves as little, but at no distance more than 18 % of the letters come again. In loops that vary it is half.
 */
const leastRepeated = 0.4;
/** Whisper judges what is said in 30 s at most. All speech of many minutes repeats itself more than that. */
const windowCharacters = 400;
/** Where in it the loop is, if what repeats itself is short. */
const closeCharacters = 100;

/** Those words that belong to a stretch of a text that says the same on and on. */
export function loopingOf<Said extends { text: string }>(words: readonly Said[]): Said[] {
  const text = words.map((word) => word.text).join(' ');
  const loops = loopsIn(text, { from: 0, to: text.length }, windowCharacters).flatMap((loop) => {
    const close = loopsIn(text, loop, closeCharacters);
    return close.length > 0 ? close : [loop];
  });
  let end = -1;
  const looping = words.map((word) => {
    const from = end + 1;
    end = from + word.text.length;
    return loops.some((loop) => from < loop.to && end > loop.from);
  });
  const said = new Set(words.filter((_, index) => looping[index]).map((word) => word.text));
  // At its ends, a loop is in no window as a whole.
  const grow = (index: number, before: number) => (looping[index] ||= looping[before]! && said.has(words[index]!.text));
  for (let index = 1; index < words.length; index += 1) grow(index, index - 1);
  for (let index = words.length - 2; index >= 0; index -= 1) grow(index, index + 1);
  return words.filter((_, index) => looping[index]);
}

interface Part {
  from: number;
  to: number;
}

/** Windows of a part of a text that are loops; each begins in the middle of the one before it. */
function loopsIn(text: string, { from: first, to: end }: Part, characters: number): Part[] {
  const found: Part[] = [];
  for (let from = first; from === first || from + characters / 2 < end; from += characters / 2) {
    const window = { from, to: Math.min(end, from + characters) };
    if (isLoop(text.slice(window.from, window.to))) found.push(window);
  }
  return found;
}

function isLoop(text: string): boolean {
  const bytes = Buffer.from(text);
  return bytes.length > mostCompressed * deflateSync(bytes).length && isRepeated(text);
}

/** Whether so much of a text comes again at one distance. */
function isRepeated(text: string): boolean {
  const letters = text.toLowerCase().replace(/[^\p{L}\p{N} ]/gu, '');
  for (let distance = 1; distance <= letters.length / 2; distance += 1) {
    let same = 0;
    for (let at = distance; at < letters.length; at += 1) if (letters[at] === letters[at - distance]) same += 1;
    if (same >= leastRepeated * (letters.length - distance)) return true;
  }
  return false;
}

/**
 * `[BLANK_AUDIO]`, `[Music]`, `(crickets chirping)`, `*sighs*`, `♪`, as Whisper and whisper.cpp write them where nobody
 * speaks. None holds another one, so that no text is looked through twice.
 */
const marker = /\[[^[\]]*\]|\([^()]*\)|（[^（）]*）|【[^【】]*】|\*[^*]*\*/gu;

/** Whether there is nothing in a text that was said. */
export const isOnlyMarkers = (text: string): boolean => !/[\p{L}\p{N}]/u.test(text.replace(marker, ''));
