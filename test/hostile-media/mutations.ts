/** A seeded fuzzer: good files, damaged in the ways that readers of formats get wrong. The same seed, the same files. */
import type { MadeFile } from './corpus.ts';

export type Random = (below: number) => number;

/** Mulberry32. */
export function seededRandom(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

type Mutation = (bytes: Buffer, random: Random, other: Buffer) => Buffer;

/** Where numbers tend to be: most of the time near the start. */
const position = (bytes: Buffer, random: Random) =>
  random(random(4) === 0 ? bytes.length : Math.min(bytes.length, 600));

const numbers = [0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff];

const mutations: Record<string, Mutation> = {
  'bit flips': (bytes, random) => {
    for (let flips = 1 + random(40); flips > 0; flips -= 1) bytes[position(bytes, random)]! ^= 1 << random(8);
    return bytes;
  },
  cuts: (bytes, random) => {
    const from = random(bytes.length);
    const isEnd = random(2) === 0;
    return isEnd
      ? bytes.subarray(0, from + 1)
      : Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + random(5_000))]);
  },
  splices: (bytes, random, other) => {
    const [at, from] = [random(bytes.length), random(other.length)];
    return Buffer.concat([bytes.subarray(0, at), other.subarray(from, from + random(20_000)), bytes.subarray(at)]);
  },
  'length fields': (bytes, random) => {
    for (let fields = 1 + random(3); fields > 0; fields -= 1) {
      const size = [2, 4][random(2)]!;
      const at = Math.min(position(bytes, random), bytes.length - size);
      if (at < 0) return bytes;
      const value = Number(BigInt.asUintN(size * 8, BigInt(numbers[random(numbers.length)]!)));
      if (random(2) === 0) bytes.writeUIntBE(value, at, size);
      else bytes.writeUIntLE(value, at, size);
    }
    return bytes;
  },
  'header swaps': (bytes, random, other) => {
    const size = 4 + random(200);
    return Buffer.concat([other.subarray(0, size), bytes.subarray(Math.min(size, bytes.length - 1))]);
  },
  repeats: (bytes, random) => {
    const from = random(bytes.length);
    const piece = bytes.subarray(from, from + 1 + random(2_000));
    return Buffer.concat([
      bytes.subarray(0, from),
      ...Array.from({ length: 2 + random(20) }, () => piece),
      bytes.subarray(from),
    ]);
  },
  'runs of one byte': (bytes, random) => {
    const from = position(bytes, random);
    return bytes.fill([0, 0xff, random(256)][random(3)]!, from, Math.min(bytes.length, from + 1 + random(500)));
  },
};

export interface Mutant {
  name: string;
  bytes: Buffer;
}

/** One to three mutations of one of `good`, which stays as it is. */
export function mutantOf(good: readonly MadeFile[], random: Random): Mutant {
  const pick = () => good[random(good.length)]!;
  const origin = pick();
  const names = Object.keys(mutations);
  const chosen = Array.from({ length: 1 + random(3) }, () => names[random(names.length)]!);
  let bytes = Buffer.from(origin.bytes);
  for (const name of chosen) if (bytes.length > 0) bytes = Buffer.from(mutations[name]!(bytes, random, pick().bytes));
  return { name: `${chosen.join(', ')} of ${origin.name.toString()}`, bytes };
}
