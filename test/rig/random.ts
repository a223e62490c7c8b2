/** Chance that can be repeated: the same name, the same numbers. */
import { createHash } from 'node:crypto';

export interface Random {
  /** A whole number from `minimum` to `maximum`, both possible. */
  between(minimum: number, maximum: number): number;
  oneOf<T>(choices: readonly T[]): T;
}

/** @param name what the numbers are for, with the seed in it */
export function randomOf(name: string): Random {
  let drawn = 0;
  const draw = () =>
    createHash('sha256')
      .update(`${name}:${(drawn += 1)}`)
      .digest()
      .readUInt32BE() /
    2 ** 32;
  const between = (minimum: number, maximum: number) => minimum + Math.floor(draw() * (maximum - minimum + 1));
  return { between, oneOf: (choices) => choices[between(0, choices.length - 1)]! };
}
