import { toLines } from '../../../src/captions/lines.ts';

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
});

test('a word longer than a line → a line of its own', () => {
  const long = 'x'.repeat(50);
  expect(toLines(`a ${long} b`)).toEqual(['a', long, 'b']);
});

test.each([
  [
    'an end of a clause',
    'there was much of it in the north, and in the south of the country',
    'there was much of it in the north,',
  ],
  [
    'before a phrase',
    'we were told that philosophy develops in all the books of other people',
    'we were told that philosophy develops',
  ],
  [
    'not between a short word and what it stands before',
    'may justly be considered as the invention of the art of printing.',
    'may justly be considered',
  ],
  [
    'before the `-` of who answers',
    'What is this type of game? - We thought that it was anything.',
    'What is this type of game?',
  ],
  [
    'not behind the first word of a sentence',
    'they all went home again. Rallying supporters is hard',
    'they all went home again.',
  ],
])('two lines → broken at %s', (_, text, first) => {
  expect(toLines(text)[0]).toBe(first);
});
