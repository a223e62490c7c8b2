import { samplesPerMs } from './samples.ts';

/** A stretch without speech, in ms from the start of the audio. */
export interface Silence {
  startMs: number;
  endMs: number;
}

/**
 * -38 dB: quieter than the noise of most rooms. The pause is shorter than a breath. A wrong guess only makes a cut less
 * lucky (see pieces.ts): no word depends on it.
 */
const loudest = Math.floor(32_768 * 10 ** (-38 / 20));
const shortestSamples = 200 * samplesPerMs;

/**
 * Listens for silences in 16 kHz mono s16le that comes in parts. At most five of them fit into a second, whatever the
 * audio is.
 */
export class SilenceFinder {
  readonly #silences: Silence[] = [];
  /** All in samples. */
  #heard = 0;
  #quietFrom = 0;

  /** @param samples whole ones */
  push(samples: Buffer): void {
    const from = this.#heard;
    for (let at = 0; at < samples.length; at += 2) {
      const sample = samples[at]! | (samples[at + 1]! << 8);
      const value = sample < 32_768 ? sample : 65_536 - sample;
      if (value <= loudest) continue;
      this.#endQuiet(from + at / 2);
      this.#quietFrom = from + at / 2 + 1;
    }
    this.#heard += samples.length / 2;
  }

  /** All silences, in order, when the audio has ended. */
  end(): Silence[] {
    this.#endQuiet(this.#heard);
    this.#quietFrom = this.#heard;
    return this.#silences;
  }

  #endQuiet(end: number): void {
    if (end - this.#quietFrom < shortestSamples) return;
    this.#silences.push({ startMs: Math.ceil(this.#quietFrom / samplesPerMs), endMs: Math.floor(end / samplesPerMs) });
  }
}
