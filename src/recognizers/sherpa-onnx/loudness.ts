/** How loud samples are: from -1 to 1, 16 per ms. */
import { samplesPerMs } from '../../audio/samples.ts';

/** -60 dB. Quieter audio is not recognized: Whisper makes up words for digital silence. */
const inaudible = 0.001;

/** In 0.1 s, -40 dB: about the level of a voice that speaks low, or from afar. */
const [loud, stepMs] = [0.01, 100];
/** A second of it may well be a word. */
const leastLoudSteps = 10;

export function isInaudible(samples: Float32Array): boolean {
  return samples.every((sample) => Math.abs(sample) < inaudible);
}

/** Whether so much is to be heard that there should be a word in it, if somebody speaks. */
export function isLoud(samples: Float32Array): boolean {
  const step = stepMs * samplesPerMs;
  let loudSteps = 0;
  for (let start = 0; start + step <= samples.length; start += step) {
    const power = samples.subarray(start, start + step).reduce((sum, sample) => sum + sample ** 2, 0) / step;
    if (Math.sqrt(power) >= loud) loudSteps += 1;
  }
  return loudSteps >= leastLoudSteps;
}

/** Half as loud as can be. */
export function tone(durationMs: number): Float32Array {
  const radians = (2 * Math.PI * 440) / (samplesPerMs * 1000);
  return Float32Array.from({ length: durationMs * samplesPerMs }, (_, sample) => 0.5 * Math.sin(radians * sample));
}
