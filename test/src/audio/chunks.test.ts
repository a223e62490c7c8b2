import fc from 'fast-check';
import { cutIntoChunks, cutSpeechIntoChunks } from '../../../src/audio/chunks.ts';

const lengths = { longestMs: 10_000, overlapMs: 1_000 };
const cutsOf = (durationMs: number, silences: { startMs: number; endMs: number }[]) =>
  cutIntoChunks(durationMs, silences, lengths).map(({ startMs, endMs }) => [startMs, endMs]);

test('silences within reach → a cut in the middle of the longest; of equal ones, the latest', () => {
  const silences = [
    { startMs: 1000, endMs: 5000 },
    { startMs: 6500, endMs: 7000 },
    { startMs: 8000, endMs: 8500 },
    { startMs: 9000, endMs: 9200 },
  ];
  expect(cutsOf(15_000, silences)).toEqual([
    [0, 8250],
    [8250, 15_000],
  ]);
});

test('a silence that goes on beyond the reach → a cut in the part within reach', () => {
  expect(cutsOf(20_000, [{ startMs: 8000, endMs: 19_000 }])[0]).toEqual([0, 9000]);
});

test('nobody pauses → cuts as late as they may be', () => {
  expect(cutsOf(25_000, [])).toEqual([
    [0, 10_000],
    [10_000, 20_000],
    [20_000, 25_000],
  ]);
});

test('a cut in a pause of half a second → its neighbours hear nothing of each other, a shorter one cuts words', () => {
  const heard = cutIntoChunks(
    25_000,
    [
      { startMs: 8_000, endMs: 8_500 },
      { startMs: 16_000, endMs: 16_499 },
    ],
    lengths,
  );
  expect(heard.map(({ windowStartMs, windowEndMs }) => [windowStartMs, windowEndMs])).toEqual([
    [0, 8_250],
    [8_250, 17_250],
    [15_250, 25_000],
  ]);
});

const even = { longestMs: 10_000, overlapMs: 0, evenly: { atOnce: 2, shortestMs: 2_000 } };
const evenCutsOf = (durationMs: number, silences: { startMs: number; endMs: number }[]) =>
  cutIntoChunks(durationMs, silences, even).map(({ endMs }) => endMs);

test.each([
  [3_999, [3_999]],
  [4_000, [2_000, 4_000]],
  [15_000, [7_500, 15_000]],
  [16_000, [4_000, 8_000, 12_000, 16_000]],
])(
  'even chunks of %d ms in which nobody pauses → as many as run at once, or a multiple, if none is too short',
  (durationMs, ends) => {
    expect(evenCutsOf(durationMs, [])).toEqual(ends);
  },
);

test('even chunks → cut in the middle of the longest silence near their even places', () => {
  const silences = [
    { startMs: 3000, endMs: 3300 },
    { startMs: 3500, endMs: 3700 },
    { startMs: 4200, endMs: 4300 },
    { startMs: 5000, endMs: 7000 },
    { startMs: 12_500, endMs: 16_000 },
  ];
  expect(evenCutsOf(16_000, silences)).toEqual([3600, 8000, 12_550, 16_000]);
});

test.each([
  ['late', lengths],
  ['even', { ...lengths, evenly: { atOnce: 3, shortestMs: 3000 } }],
])('any recording, cuts %s → chunks without gap or overlap, none too long, none empty', (_, lengths) => {
  const silence = fc.tuple(fc.nat(5000), fc.integer({ min: 1, max: 4000 }));
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 200_000 }), fc.array(silence, { maxLength: 60 }), (durationMs, gaps) => {
      let at = 0;
      const silences = gaps.map(([pause, length]) => ({ startMs: (at += pause), endMs: (at += length) }));
      const chunks = cutIntoChunks(durationMs, silences, lengths);
      expect(chunks.map(({ startMs }) => startMs)).toEqual([0, ...chunks.slice(0, -1).map(({ endMs }) => endMs)]);
      expect(chunks.at(-1)!.endMs).toBe(durationMs);
      for (const { startMs, endMs } of chunks) {
        expect(endMs - startMs).toBeGreaterThan(0);
        expect(endMs - startMs).toBeLessThanOrEqual(lengths.longestMs);
      }
    }),
    { seed: 1, numRuns: 300 },
  );
});

describe('where it is known where somebody speaks', () => {
  const speech = [
    { startMs: 2_000, endMs: 5_000 },
    { startMs: 8_000, endMs: 9_000 },
    { startMs: 30_000, endMs: 42_000 },
  ];
  const silences = [{ startMs: 39_000, endMs: 39_500 }];

  test('short pauses are heard, longer ones left out; cuts lie in silences, and nothing of the rest is heard', () => {
    expect(cutSpeechIntoChunks(speech, silences, lengths)).toEqual([
      { startMs: 2_000, endMs: 9_000, windowStartMs: 2_000, windowEndMs: 9_000 },
      { startMs: 30_000, endMs: 39_250, windowStartMs: 30_000, windowEndMs: 39_250 },
      { startMs: 39_250, endMs: 42_000, windowStartMs: 39_250, windowEndMs: 42_000 },
    ]);
  });

  test('where another person goes on → cut, unless nobody speaks on one side', () => {
    const changes = [2_400, 4_000, 20_000, 35_000, 41_600];
    expect(cutSpeechIntoChunks(speech, silences, { longestMs: 10_000, overlapMs: 0 }, changes)).toMatchObject([
      { startMs: 2_000, endMs: 4_000 },
      { startMs: 4_000, endMs: 9_000 },
      { startMs: 30_000, endMs: 35_000 },
      { startMs: 35_000, endMs: 42_000 },
    ]);
  });

  test('whatever is said → all of it is in one chunk each, in order, none longer than it may be', () => {
    const steps = fc.array(fc.tuple(fc.integer({ min: 1, max: 20_000 }), fc.integer({ min: 1, max: 30_000 })));
    fc.assert(
      fc.property(steps, (drawn) => {
        let nowMs = 0;
        const spans = drawn.map(([pauseMs, spokenMs]) => {
          const startMs = nowMs + pauseMs;
          return { startMs, endMs: (nowMs = startMs + spokenMs) };
        });
        const chunks = cutSpeechIntoChunks(spans, [], lengths);
        for (const { startMs, endMs } of spans) {
          const parts = chunks.filter((chunk) => chunk.endMs > startMs && chunk.startMs < endMs);
          expect(parts[0]!.startMs).toBeLessThanOrEqual(startMs);
          expect(parts.at(-1)!.endMs).toBeGreaterThanOrEqual(endMs);
          parts.slice(1).forEach((part, index) => expect(part.startMs).toBe(parts[index]!.endMs));
        }
        chunks.forEach(({ startMs, endMs }, index) => {
          expect(endMs - startMs).toBeLessThanOrEqual(lengths.longestMs);
          expect(startMs).toBeGreaterThanOrEqual(chunks[index - 1]?.endMs ?? 0);
        });
      }),
      { seed: 17, numRuns: 200 },
    );
  });
});
