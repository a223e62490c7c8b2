/**
 * What leaks over from one channel into another: a microphone hears the other side's loudspeaker, or a line the other
 * direction. A recognizer would write it down a second time.
 */
import { loudnessOf, stepMs } from './loudness.ts';
import type { SamplesOptions } from './decode-samples.ts';
import type { Span } from './spans.ts';

/** So much quieter than another channel at that moment, it is leakage. */
const leastDb = 20;
const partMs = 100;
/** A pause between two words is not the end of a voice, and an echo comes a little later. */
const nearMs = 200;

/**
 * Listens to all channels of a recording, one after the other, to know where each is only heard in another one.
 * @returns for each channel its leaks, in order, by the samples before them: without the gaps of the recording
 * @throws what `decodeSamples` throws
 */
export async function findLeaks(options: SamplesOptions, channels: number): Promise<Span[][]> {
  if (channels === 1) return [[]];
  const voices: Uint8Array[] = [];
  for (let channel = 1; channel <= channels; channel += 1)
    voices.push(loudestParts((await loudnessOf({ ...options, channel })).peaks));
  return voices.map((voice) => leaksInto(voice, voices));
}

/** @param peaks of each step, in dB above -96 @returns the highest peak in each tenth of a second and near it */
export const loudestParts = (peaks: Uint8Array): Uint8Array =>
  Uint8Array.from({ length: Math.ceil((peaks.length * stepMs) / partMs) }, (_, part) => {
    const [fromMs, toMs] = [part * partMs - nearMs, (part + 1) * partMs + nearMs];
    return Math.max(...peaks.subarray(Math.max(0, fromMs / stepMs), toMs / stepMs));
  });

export function leaksInto(own: Uint8Array, all: readonly Uint8Array[]): Span[] {
  const leaks: Span[] = [];
  own.forEach((here, part) => {
    if (!all.some((there) => there[part]! > here + leastDb)) return;
    const [startMs, last] = [part * partMs, leaks.at(-1)];
    if (last?.endMs === startMs) last.endMs += partMs;
    else leaks.push({ startMs, endMs: startMs + partMs });
  });
  return leaks;
}
