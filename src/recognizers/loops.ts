import { deflateSync } from 'node:zlib';

/**
 * Whisper's own rule: a text that zlib makes so much smaller says the same on and on (`compression_ratio_threshold` in
 * https://github.com/openai/whisper/blob/main/whisper/transcribe.py).
 */
const mostCompressed = 2.4;
/** Whisper judges what is said in 30 s at most. All speech of many minutes repeats itself more than that. */
const windowCharacters = 400;
/** Where in it the loop is, if what repeats itself is short. */
const closeCharacters = 100;

/** Those words that belong to a stretch of a text that says the same on and on. */
export function loopingOf<Said extends { text: string }>(words: readonly Said[]): Said[] {
  const text = words.map((word) => word.text).join(' ');
  const loops = compressibleIn(text, { from: 0, to: text.length }, windowCharacters).flatMap((loop) => {
    const close = compressibleIn(text, loop, closeCharacters);
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

/** Windows of a part of a text that zlib makes so small; each begins in the middle of the one before it. */
function compressibleIn(text: string, { from: first, to: end }: Part, characters: number): Part[] {
  const found: Part[] = [];
  for (let from = first; from === first || from + characters / 2 < end; from += characters / 2) {
    const window = { from, to: Math.min(end, from + characters) };
    const bytes = Buffer.from(text.slice(window.from, window.to));
    if (bytes.length > mostCompressed * deflateSync(bytes).length) found.push(window);
  }
  return found;
}
