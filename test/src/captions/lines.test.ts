import { fitsOnScreen, toLines } from '../../../src/captions/lines.ts';

const words = (count: number, length: number) => Array.from({ length: count }, () => 'x'.repeat(length)).join(' ');

test.each([
  ['42 characters', words(6, 6) + 'x', 1],
  ['two lines of 42', `${words(6, 6)}x ${words(6, 6)}x`, 2],
  ['43 characters', words(4, 10), 2],
  ['a few more than two lines', words(13, 6), 3],
])('%s → so many lines, none too long, no word lost', (_, text, count) => {
  const lines = toLines(text);
  expect(lines).toHaveLength(count);
  expect(lines.join(' ')).toBe(text);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(42);
  expect(fitsOnScreen(text)).toBe(count <= 2);
});

test('a word longer than a line → a line of its own, which fits no screen', () => {
  const long = 'x'.repeat(50);
  expect(toLines(`a ${long} b`)).toEqual(['a', long, 'b']);
  expect(fitsOnScreen(long)).toBe(false);
});
