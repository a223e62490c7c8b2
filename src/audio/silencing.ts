import { bytesPerMs } from './samples.ts';
import type { Span } from './pieces.ts';

/**
 * Makes stretches of a recording silent.
 * @param stretches in order
 * @returns takes its samples as they come, and changes them
 */
export function silencing(stretches: readonly Span[]): (samples: Buffer) => void {
  let [atByte, next] = [0, 0];
  return (samples) => {
    const endByte = atByte + samples.length;
    while (next < stretches.length && stretches[next]!.endMs * bytesPerMs <= atByte) next += 1;
    for (let index = next; index < stretches.length && stretches[index]!.startMs * bytesPerMs < endByte; index += 1) {
      const { startMs, endMs } = stretches[index]!;
      samples.fill(
        0,
        Math.max(0, startMs * bytesPerMs - atByte),
        Math.min(samples.length, endMs * bytesPerMs - atByte),
      );
    }
    atByte = endByte;
  };
}
