import { normalWords } from '../../../scripts/bench/normal-words.ts';
import { compareSpeakers } from '../../../scripts/bench/speakers.ts';
import { errorRate, sumOf, wordErrorRate, wordErrors } from '../../../scripts/bench/word-errors.ts';
import type { Said } from '../../../scripts/bench/speakers.ts';

test.each([
  ['Hello,  WORLD — again!', 'hello world again'],
  ['It’s the dogs’ bowl', "it's the dogs bowl"],
  ['0 100 1000 12345678', 'zero one hundred one thousand twelve million three hundred forty five thousand six hundred seventy eight'], // prettier-ignore
  ['3.05 km', 'three point zero five km'],
  ['007 and 1234567890123', 'zero zero seven and one two three four five six seven eight nine zero one two three'],
  ['Mr. and Mrs. Dashwood, Dr. No', 'mister and missus dashwood doctor no'],
  ['今天好 OK', '今 天 好 ok'],
])('%s → %s', (text, words) => {
  expect(normalWords(text).join(' ')).toBe(words);
});

test.each([
  ['a b c d e', 'x b d e f', { words: 5, insertions: 1, deletions: 1, substitutions: 1 }],
  ['a b', '', { words: 2, insertions: 0, deletions: 2, substitutions: 0 }],
  ['', 'a b', { words: 0, insertions: 2, deletions: 0, substitutions: 0 }],
  ['Mr. Dashwood has 2.', 'mister dashwood has two', { words: 4, insertions: 0, deletions: 0, substitutions: 0 }],
])('"%s" heard as "%s" → its errors by kind', (reference, heard, errors) => {
  expect(wordErrors(reference, heard)).toEqual(errors);
});

test('rates → errors for each word of the reference, over several recordings too', () => {
  expect(wordErrorRate('a b c d', 'x b d e f')).toBe(1);
  expect(wordErrorRate('', 'a b')).toBe(2);
  expect(errorRate(sumOf([wordErrors('a b', 'a'), wordErrors('a b c d e f', 'a b c d e f')]))).toBe(1 / 8);
});

/** A second for each word. */
const says = (who: string | undefined, text: string, second: number): Said => ({
  ...{ who, text, startMs: second * 1000, endMs: (second + text.split(' ').length) * 1000 },
});
const meeting = [says('Ann', 'one two', 0), says('Bob', 'three', 2), says('Ann', 'four five', 3)];

test.each<[string, Said[], number, number, number]>([
  [
    'all right, whatever the names',
    [says('S2', 'one two', 0), says('S1', 'three', 2), says('S2', 'four five', 3)],
    ...([2, 0, 0] as const),
  ],
  ['one for two', [says('S1', 'one two three four five', 0)], 1, 0.2, 0.2],
  ['two for one', [says('S1', 'one two', 0), says('S2', 'three', 2), says('S3', 'four five', 3)], 3, 0.4, 0.4],
  ['nobody’s', [says(undefined, 'one two three four five', 0)], 0, 1, 1],
  ['a word that is wrong is nobody’s mistake', [says('S1', 'one two free four five', 0)], 1, 0.2, 0],
])('who said it: %s', (_, heard, found, wrongTime, wrongPerson) => {
  expect(compareSpeakers(meeting, heard)).toEqual({ found, wrongTime, wrongPerson });
});
