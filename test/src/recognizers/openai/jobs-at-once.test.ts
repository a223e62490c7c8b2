import { jobsAtOnce } from '../../../../src/recognizers/openai/jobs-at-once.ts';

const second = 1_000;
test.each([
  ['nothing is known yet', 16, 0, undefined, 0],
  ['one at a time', 1, 0, 2 * second, 2],
  ['one at a time, a long recording', 1, 0, 60 * second, 2],
  ['one at a time, so slow that the second would run out of time', 1, 0, 200 * second, 1],
  ['16 were guessed, and it takes a minute for each', 16, 0, 60 * second, 5],
  ['16 at once, short recordings', 16, 0, second / 8, 21],
  ['64 at once, short recordings', 64, 0, second / 32, 81],
  ['64 at once, two thirds of them for an hour', 64, 42, second / 32, 39],
  ['64 at once, all for an hour → others still get in', 64, 63, second / 32, 18],
  ['64 at once, for hours → others still get in', 64, 500, second / 32, 18],
])('%s: %i at once, %i further pieces, an answer every %p ms → %i', (_, limit, furtherPieces, answersEveryMs, held) => {
  expect(jobsAtOnce({ limit, furtherPieces, answersEveryMs })).toBe(held);
});
