/** A stretch without speech, in ms from the start of the audio. */
export interface Silence {
  startMs: number;
  endMs: number;
}

/** Of so much audio, one peak is kept. */
export const stepMs = 10;

/**
 * No sample of a pause is louder than this below the recording's level: that is -38 dB for most voices, and quieter than
 * the noise of most rooms. The pause is shorter than a breath. A wrong guess only makes a cut less lucky (see pieces.ts):
 * no word depends on it.
 */
const belowLevelDb = 14;
const shortestMs = 200;

/**
 * Finds silences. At most five of them fit into a second, whatever the audio is.
 * @param peaks of each step, in dB above -96
 * @param levelDb of the recording; -Infinity where all of it is silent
 * @returns in order
 */
export function silencesIn(peaks: Uint8Array, levelDb: number, durationMs: number): Silence[] {
  const loudest = levelDb === -Infinity ? Infinity : levelDb - belowLevelDb + 96;
  const silences: Silence[] = [];
  let startMs = 0;
  const endAt = (endMs: number): void => {
    if (endMs - startMs >= shortestMs) silences.push({ startMs, endMs });
  };
  for (let step = 0; step < peaks.length; step += 1) {
    if (peaks[step]! <= loudest) continue;
    endAt(step * stepMs);
    startMs = (step + 1) * stepMs;
  }
  endAt(durationMs);
  return silences;
}
