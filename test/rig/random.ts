/** Chance that can be repeated: the same seed, the same choices. */
import { seededRandom } from '../hostile-media/mutations.ts';

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
