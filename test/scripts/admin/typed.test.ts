/** What people type: durations, mistakes, and the help. */
import { formatDuration, negativeDurationsLast, parseDuration } from '../../../scripts/admin/durations.ts';
import { mistaken, refused, runAdmin } from './run-admin.ts';

const account = '0198c0de-0000-7000-8000-000000000000';
// Nothing listens there: what is found without the data is found without the database.
const nowhere = { DATABASE_URL: 'postgres://nobody:secret@127.0.0.1:1/nothing' };

test.each([
  ['1h 30m 5s', 5_405_000],
  ['1.234s', 1_234],
  ['-2h30m', -9_000_000],
  ['\u22122h', -7_200_000],
  [' 36525d ', 3_155_760_000_000],
])('%s → %d ms', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});

test.each(['', '10', '0h', '1.5h', '30m1h', '1h1h', '36526d', '--2h'])('"%s" → no duration', (text) => {
  expect(parseDuration(text)).toBeUndefined();
});

test.each([
  [1, '0.001s'],
  [37_805_000, '10h 30m 5s'],
  [-7_200_000, '-2h'],
  [61_234, '1m 1.234s'],
])('%d ms → %s, which can be typed again', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
  expect(parseDuration(text)).toBe(ms);
});

test.each([
  ['balance correct A -2h --reason x', 'balance correct A --reason x -- -2h'],
  ['balance correct A -- -2h', 'balance correct A -- -2h'],
  ['keys revoke -', 'keys revoke -'],
])('arguments %s → %s', (typed, read) => {
  expect(negativeDurationsLast(typed.split(' '))).toEqual(read.split(' '));
});

test.each<[string, string[], RegExp]>([
  ['no command', [], /Usage: npm run admin -- /],
  ['an unknown command', ['accounts', 'creat'], /unknown command 'creat'\n\(Did you mean create\?\)/],
  ['a missing argument', ['balance', 'credit', account], /missing required argument 'duration'[^]*credit ACCOUNT 10h/],
  ['a damaged id', ['accounts', 'show', 'acme'], /'acme' is invalid[^]*"accounts list" shows them/],
  ['a name of 201', ['accounts', 'create', '--plan', 'pro', '--name', 'n'.repeat(201)], /1 to 200 characters/],
  ['a duration without unit', ['balance', 'credit', account, '10'], /such as 10h, 90m, 1h30m/],
  ['a negative credit', ['balance', 'credit', account, '-10h'], /above zero/],
  ['101 running jobs', ['accounts', 'set-limits', account, '--running-jobs', '101'], /whole number from 1 to 100/],
  ['a status there is not', ['sessions', 'list', account, '--status', 'done'], /queued, processing, completed, failed/],
])('%s → what was wrong and what to type', async (_mistake, args, sentence) => {
  expect(await runAdmin([...args, '--json'], nowhere)).toEqual(mistaken(sentence));
});

test('a key as an argument too many → its secret is not repeated', async () => {
  const key = 'tsk_0123456789abcdefghijABCDEFGHIJ01234567';
  const end = await runAdmin(['keys', 'revoke', account, key], nowhere);
  expect(end).toEqual(mistaken(/too many arguments/));
  expect(end.stderr).not.toContain(key.slice(12));
});

test('no database there → one sentence, no password, exit code 1', async () => {
  const end = await runAdmin(['accounts', 'list'], nowhere);
  expect(end).toEqual(refused(/^The database can not be opened: connect ECONNREFUSED 127\.0\.0\.1:1\. .*\n$/));
});
