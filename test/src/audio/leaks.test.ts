import { leaksInto, loudestParts } from '../../../src/audio/leaks.ts';
import { silencing } from '../../../src/audio/decode.ts';

describe('what leaks over', () => {
  /** A channel by the peaks of its tenths of a second, in dB above -96. */
  const channel = (...tenths: number[]) =>
    loudestParts(Uint8Array.from(tenths.flatMap((db) => new Array(10).fill(db))));
  const silent = [20, 20, 20, 20, 20, 20, 20, 20];
  const speaks = [20, 20, 20, 70, 70, 20, 20, 20];

  test.each<[string, number[], number[], [number, number][]]>([
    ['both silent', silent, silent, []],
    ['here somebody speaks', speaks, silent, []],
    ['there somebody speaks → here is nobody, shortly before and after it neither', silent, speaks, [[100, 700]]],
    ['at -34 dB', [20, 20, 20, 36, 36, 20, 20, 20], speaks, [[100, 700]]],
    ['as loud here', speaks, speaks, []],
    ['20 dB louder there', [50, 50, 50, 50, 50, 50, 50, 50], speaks, []],
    ['here somebody says a word meanwhile', [20, 20, 20, 20, 20, 20, 60, 20], speaks, [[100, 400]]],
    ['the end of a file that is no full tenth', [20], [70], [[0, 100]]],
  ])('%s', (_, here, there, leaks) => {
    const [own, other] = [channel(...here), channel(...there)];
    expect(leaksInto(own, [own, other]).map(({ startMs, endMs }) => [startMs, endMs])).toEqual(leaks);
  });

  test('a second that is cut off → its last peaks count', () => {
    expect(loudestParts(Uint8Array.of(0, 5))).toEqual(Uint8Array.of(5));
    expect(loudestParts(new Uint8Array(11))).toHaveLength(2);
  });
});

test.each([1, 2, 33, 64, 1_000])('samples that come in parts of %i ms → silent where they should be', (partMs) => {
  const silence = silencing([
    { startMs: 10, endMs: 20 },
    { startMs: 50, endMs: 100 },
    { startMs: 290, endMs: 900 },
  ]);
  const parts: Buffer[] = [];
  for (let leftMs = 300; leftMs > 0; leftMs -= partMs) {
    const part = Buffer.alloc(Math.min(leftMs, partMs) * 32, 1);
    silence(part);
    parts.push(part);
  }
  const heardMs = Array.from({ length: 300 }, (_, ms) => ms).filter((ms) =>
    Buffer.concat(parts)
      .subarray(ms * 32, ms * 32 + 32)
      .some((byte) => byte === 1),
  );
  const silentMs = (ms: number) => (ms >= 10 && ms < 20) || (ms >= 50 && ms < 100) || ms >= 290;
  expect(heardMs).toEqual(Array.from({ length: 300 }, (_, ms) => ms).filter((ms) => !silentMs(ms)));
});
