import type { Loudness } from './loudness.ts';

/** Models bear what is louder than this. Moonshine loses words from -70 dB on, and the rules for silence from -50 dB on. */
const quietDb = -40;
/** A usual level of speech, whose peaks have room above it. */
const usualDb = -26;
/** Between words, a voice is at least so much quieter. The noise of an empty room is steady. */
const leastRangeDb = 10;

/** How much louder a recording is to be made before anybody listens to it, in whole dB; mostly 0. */
export function gainFor({ levelDb, floorDb }: Loudness): number {
  const isQuiet = levelDb < quietDb && levelDb !== -Infinity;
  return isQuiet && levelDb - floorDb >= leastRangeDb ? Math.round(usualDb - levelDb) : 0;
}
