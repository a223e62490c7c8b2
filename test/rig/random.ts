/** Chance that can be repeated: the same seed, the same choices. */

export interface Random {
  /** A whole number from `minimum` to `maximum`, both possible. */
  between(minimum: number, maximum: number): number;
  oneOf<T>(choices: readonly T[]): T;
}

export function randomOf(seed: number): Random {
  const below = seededRandom(seed);
  const between = (minimum: number, maximum: number) => minimum + below(maximum - minimum + 1);
  return { between, oneOf: (choices) => choices[between(0, choices.length - 1)]! };
}

/** Mulberry32. */
export function seededRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}
