import { pieceLengths } from '../../../../src/recognizers/openai/piece-lengths.ts';

const minute = 60_000;
test.each<[string, string | undefined, number, number, number]>([
  ['the server finds out the language → short, since it finds one for each', undefined, 60, 1, 28_000],
  ['an hour, and the server is busy', 'en', 60, 0, 120_000],
  ['an hour, one at a time', 'en', 60, 1, 120_000],
  ['an hour, room for 16', 'en', 60, 16, 120_000],
  ['an hour, room for 64 → all of it at once', 'en', 60, 64, 70_313],
  ['an hour, room for 256', 'en', 60, 256, 28_000],
  ['ten minutes, room for 16 → all of them at once', 'en', 10, 16, 46_875],
])('%s', (_, language, minutes, free, longestMs) => {
  const durationMs = minutes * minute;
  const lengths = pieceLengths('verbose_json', { durationMs }, { language, free });
  expect(lengths).toEqual({ longestMs, overlapMs: 1_000 });
  // Only what is spoken is sent.
  const speech = [{ startMs: 0, endMs: durationMs }];
  expect(pieceLengths('verbose_json', { durationMs: 24 * 60 * minute, speech }, { language, free })).toEqual(lengths);
});
