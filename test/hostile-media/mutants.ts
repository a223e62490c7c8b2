/** Good files, damaged in the ways that readers of formats get wrong. */
import fc from 'fast-check';

/** So many bytes are left out at a place, and others are put there. */
interface Change {
  at: number;
  without: number;
  other: Uint8Array;
}

/** Where numbers tend to be: most of the time near the start. */
const at = fc.oneof({ weight: 3, arbitrary: fc.nat(600) }, { weight: 1, arbitrary: fc.nat(50_000) });
const numbers = ['00000000', '00000001', '7fff', 'ffff', '7fffffff', '80000000', 'feffffff', 'ffffffff'];
const nothing = fc.constant(Buffer.alloc(0));

const overwritten = fc
  .oneof(
    fc.constantFrom(...numbers).map((hex) => Buffer.from(hex, 'hex')),
    fc.uint8Array({ minLength: 1, maxLength: 8 }),
    fc.tuple(fc.constantFrom(0, 255), fc.nat(500)).map(([byte, length]) => Buffer.alloc(length, byte)),
  )
  .chain((other) => fc.record({ at, without: fc.constant(other.length), other: fc.constant(other) }));
const missing = fc.record({ at, without: fc.nat(5_000), other: nothing });
const spliced = (good: readonly Buffer[]) =>
  fc
    .tuple(fc.constantFrom(...good), at, fc.nat(20_000))
    .chain(([other, from, length]) =>
      fc.record({ at, without: fc.constant(0), other: fc.constant(other.subarray(from, from + length)) }),
    );

function changed(bytes: Buffer, change: Change): Buffer {
  const place = change.at % Math.max(1, bytes.length);
  return Buffer.concat([bytes.subarray(0, place), change.other, bytes.subarray(place + change.without)]);
}

/** Each is one of `good` with one to three changes. The same seed, the same mutants. */
export function mutantsOf(good: readonly Buffer[], count: number, seed: number): Buffer[] {
  const change = fc.oneof(overwritten, missing, spliced(good));
  const mutant = fc
    .tuple(fc.constantFrom(...good), fc.array<Change>(change, { minLength: 1, maxLength: 3 }))
    .map(([bytes, changes]) => changes.reduce(changed, bytes));
  return fc.sample(mutant, { numRuns: count, seed });
}
