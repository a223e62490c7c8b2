/**
 * How much the tests of hostile media try. `MEDIA_MUTATIONS=2000 ./scripts/test hostile-media` tries 2,000 mutated files
 * and gives all short audio to the recognizer; `MEDIA_SEED=…` makes other ones, and repeats a run.
 */
const asked = process.env.MEDIA_MUTATIONS;

export const mutations = Number(asked ?? 48);
export const seed = Number(process.env.MEDIA_SEED ?? 20_261_120);
export const isThorough = asked !== undefined;

/** For the tests that send many files. */
export const timeLimitMs = 600_000 + mutations * 2_000;

/** How many files of a kind the recognizer hears; the others are answered by a script. */
export const heardOfEachKind = isThorough ? Infinity : 1;
