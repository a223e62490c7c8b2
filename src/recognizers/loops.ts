import { deflateSync } from 'node:zlib';

/**
 * Whisper's own rule: a text that zlib makes so much smaller says the same on and on (`compression_ratio_threshold` in
 * https://github.com/openai/whisper/blob/main/whisper/transcribe.py).
 */
const mostCompressed = 2.4;
/** Whisper judges what is said in 30 s at most. All speech of many minutes repeats itself more than that. */
const [windowCharacters, stepCharacters] = [400, 200];

/** Whether a stretch of a text says the same on and on. */
export function isLoop(text: string): boolean {
  for (let from = 0; from === 0 || from + stepCharacters < text.length; from += stepCharacters) {
    const bytes = Buffer.from(text.slice(from, from + windowCharacters));
    if (bytes.length > mostCompressed * deflateSync(bytes).length) return true;
  }
  return false;
}
