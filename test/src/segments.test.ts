import type { Word } from '../../src/recognizers/recognizer.ts';
import { segmentsFromUtterances } from '../../src/segments.ts';

/** `count` words of 200 ms, one every `everyMs`. */
function words(count: number, everyMs: number, from = 0): Word[] {
  return Array.from({ length: count }, (_, position) => {
    const startMs = from + position * everyMs;
    return { startMs, endMs: startMs + 200, text: `w${position}` };
  });
}

const texts = (utterances: Word[][], durationMs = 3_600_000): string[] =>
  segmentsFromUtterances(utterances, durationMs).map((segment) => segment.text);

test('no utterances, or none with words → no segments', () => {
  expect(segmentsFromUtterances([], 1000)).toEqual([]);
  expect(segmentsFromUtterances([[], [{ startMs: 0, endMs: 10, text: ' ' }]], 1000)).toEqual([]);
});

test('two utterances close together → a segment each, numbered', () => {
  const segments = segmentsFromUtterances([words(2, 250), words(2, 250, 500)], 10_000);
  expect(segments).toMatchObject([
    { index: 0, startMs: 0, endMs: 450, text: 'w0 w1' },
    { index: 1, startMs: 500, endMs: 950, text: 'w0 w1' },
  ]);
});

test('a pause of 600 ms → a cut, a shorter one → none', () => {
  expect(texts([[...words(2, 200), ...words(1, 200, 1000)]])).toEqual(['w0 w1', 'w0']);
  expect(texts([[...words(2, 200), ...words(1, 200, 999)]])).toEqual(['w0 w1 w0']);
});

test('after 10 words → cut at a pause of 200 ms', () => {
  expect(texts([[...words(12, 200), ...words(3, 200, 2600)]])).toHaveLength(2);
  expect(texts([[...words(8, 200), ...words(3, 200, 1800)]])).toHaveLength(1);
});

test('speech without pauses → at most 20 words and 10 s in each segment, no word lost', () => {
  for (const everyMs of [200, 390, 790]) {
    const segments = segmentsFromUtterances([words(100, everyMs)], 100_000);
    for (const segment of segments) {
      expect(segment.words.length).toBeLessThanOrEqual(20);
      expect(segment.endMs - segment.startMs).toBeLessThanOrEqual(10_000);
    }
    expect(segments.flatMap((segment) => segment.words)).toHaveLength(100);
  }
});

test('times out of order, overlapping, outside and fractional → ordered integers within the audio', () => {
  const utterances: Word[][] = [
    [{ startMs: 700, endMs: 2000, text: 'last' }],
    [
      { startMs: 400.4, endMs: 300, text: 'second' },
      { startMs: -50, endMs: 450.6, text: ' first ' },
    ],
    [{ startMs: 440, endMs: 800, text: 'third' }],
    [{ startMs: 5000, endMs: 6000, text: 'beyond' }],
  ];
  const segments = segmentsFromUtterances(utterances, 1000);
  expect(segments.map(({ startMs, endMs, text }) => [startMs, endMs, text])).toEqual([
    [0, 451, 'first second'],
    [451, 800, 'third'],
    [800, 1000, 'last'],
    [1000, 1000, 'beyond'],
  ]);
});

test('confidence → the mean of the words that have one, 4 decimals; none → absent', () => {
  const word = (startMs: number, confidence?: number): Word => ({
    ...{ startMs, endMs: startMs + 100, text: 'w' },
    ...(confidence !== undefined && { confidence }),
  });
  const [segment] = segmentsFromUtterances([[word(0, 0.123456), word(100, 0), word(200)]], 1000);
  expect(segment!.confidence).toBe(0.0618);
  expect(segment!.words.map(({ confidence }) => confidence)).toEqual([0.1235, 0, undefined]);
  const [without] = segmentsFromUtterances([[word(0)]], 1000);
  expect(without).not.toHaveProperty('confidence');
  expect(without).not.toHaveProperty('speaker');
});

test('the words given → not changed', () => {
  const given = [[{ startMs: -5, endMs: 99_999, text: ' a ' }]];
  const before = structuredClone(given);
  segmentsFromUtterances(given, 1000);
  expect(given).toEqual(before);
});
