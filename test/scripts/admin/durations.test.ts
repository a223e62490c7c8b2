import { formatDuration, negativeDurationsLast, parseDuration } from '../../../scripts/admin/durations.ts';

test.each([
  ['10h', 36_000_000],
  ['90m', 5_400_000],
  ['1h30m', 5_400_000],
  ['1h 30m 5s', 5_405_000],
  ['90d', 7_776_000_000],
  ['45s', 45_000],
  ['1.234s', 1_234],
  ['250ms', 250],
  ['+2h', 7_200_000],
  ['-2h30m', -9_000_000],
  ['\u22122h', -7_200_000],
  [' 36525d ', 3_155_760_000_000],
])('%s → %d ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each([
  '',
  '-',
  '10',
  'h',
  '0h',
  '1.5h',
  '30m1h',
  '1h1h',
  '10 hours',
  '1y',
  '36526d',
  '1e3s',
  '9'.repeat(30) + 's',
  '--2h',
])('"%s" → no duration', (text) => {
  expect(parseDuration(text)).toBeUndefined();
});

test.each([
  [0, '0s'],
  [1, '0.001s'],
  [37_805_000, '10h 30m 5s'],
  [-7_200_000, '-2h'],
  [3_600_000_000, '1000h'],
  [61_234, '1m 1.234s'],
])('%d ms → %s, which can be typed again', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
  expect(parseDuration(text)).toBe(ms === 0 ? undefined : ms);
});

test.each([
  ['balance correct A -2h --reason x', 'balance correct A --reason x -- -2h'],
  ['balance correct A --json -2h --reason x', 'balance correct A --json --reason x -- -2h'],
  ['balance correct A --reason -5 -2h', 'balance correct A --reason -5 -- -2h'],
  ['balance correct A --reason=x -2h', 'balance correct A --reason=x -- -2h'],
  ['balance correct A -- -2h', 'balance correct A -- -2h'],
  ['keys revoke -', 'keys revoke -'],
])('arguments %s → %s', (typed, read) => {
  expect(negativeDurationsLast(typed.split(' '))).toEqual(read.split(' '));
});
