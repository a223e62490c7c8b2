/** One variable of the environment, and the kinds that there are several of. */
import { parseBaseUrl, parseDatabaseUrl, parseInteger, shownAddress } from './values.ts';

export interface Variable<T> {
  meaning: string;
  /** What applies where it is not set, as people read it. */
  default: string;
  /** The same, as the service takes it. */
  unset: T;
  /** @returns undefined for a wrong value */
  parse: (text: string) => T | undefined;
  /** Said of a wrong value: what it may be. */
  expected: string | ((wrong: string) => string);
  /** A wrong value as a message may show it. Left out: without a password. */
  shown?: (wrong: string) => string;
}

export const integer = (meaning: string, unset: number, minimum: number, maximum: number): Variable<number> => ({
  ...{ meaning, default: String(unset), unset },
  parse: (text) => parseInteger(text, minimum, maximum),
  expected: `a whole number from ${minimum} to ${maximum}`,
});

export const oneOf = <T extends string>(meaning: string, unset: T, choices: readonly T[]): Variable<T> => ({
  ...{ meaning, default: unset, unset },
  parse: (text) => choices.find((choice) => choice === text),
  expected: choices.join(', '),
});

export const text = (meaning: string, unset: string, expected: string): Variable<string> => ({
  ...{ meaning, default: unset, unset, expected },
  parse: (value) => value,
});

/** @param example is an address, too */
export const address = (meaning: string, example: string): Variable<string | undefined> => ({
  ...{ meaning, default: 'none', unset: undefined },
  parse: parseBaseUrl,
  expected: `an address such as ${example}`,
  shown: shownAddress,
});

export const database = (meaning: string, instead: string): Variable<string | undefined> => ({
  ...{ meaning, default: instead, unset: undefined },
  parse: parseDatabaseUrl,
  expected: 'postgres://user:password@host:port/database',
});
