import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { makeMeeting, voicesOf } from '../../../scripts/bench/meetings.ts';
import { compareSpeakers } from '../../../scripts/bench/who-said.ts';
import { wordsInCommon } from '../../../scripts/bench/same-words.ts';
import { ffmpeg } from '../../support/uploads/audio-fixtures.ts';
import { useFolder } from '../../support/use-folder.ts';
import type { Said } from '../../../scripts/bench/who-said.ts';

/** A second for each word. */
const says = (who: string | undefined, text: string, second: number): Said => ({
  ...{ who, text, startMs: second * 1000, endMs: (second + text.split(' ').length) * 1000 },
});
const meeting = [says('Ann', 'one two', 0), says('Bob', 'three', 2), says('Ann', 'four five', 3)];

test.each<[string, Said[], Said[], number, number, number]>([
  [
    'all right, whatever the names',
    meeting,
    [says('S2', 'one two', 0), says('S1', 'three', 2), says('S2', 'four five', 3)],
    2,
    0,
    0,
  ],
  ['one for two', meeting, [says('S1', 'one two three four five', 0)], 1, 0.2, 0.2],
  ['two for one', meeting, [says('S1', 'one two', 0), says('S2', 'three', 2), says('S3', 'four five', 3)], 3, 0.4, 0.4],
  [
    'a label too late',
    meeting,
    [says('S1', 'one two three', 0), says('S2', 'four', 3), says('S1', 'five', 4)],
    2,
    0.4,
    0.4,
  ],
  ['nobody’s', meeting, [says(undefined, 'one two three four five', 0)], 0, 1, 1],
  ['a word that is wrong is nobody’s mistake', meeting, [says('S1', 'one two free four five', 0)], 1, 0.2, 0],
  [
    'where two speak at once nobody is wrong',
    [says('Ann', 'one two', 0), says('Bob', 'three', 1)],
    [says('S1', 'one two', 0)],
    1,
    0,
    0,
  ],
  ['nothing heard', meeting, [], 0, 0, 0],
])('%s', (_, turns, heard, found, wrongTime, wrongPerson) => {
  expect(compareSpeakers(turns, heard)).toEqual({ found, wrongTime, wrongPerson });
});

test('words in common → the same words, in order, as many as a text has with itself', () => {
  const words = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 });
  fc.assert(
    fc.property(words, words, (said, heard) => {
      const common = wordsInCommon(said, heard);
      for (const [one, other] of common) expect(said[one]).toBe(heard[other]);
      for (const side of [0, 1]) expect(common.map((pair) => pair[side])).toEqual([...new Set(common.map((pair) => pair[side]!))].sort((a, b) => a - b)); // prettier-ignore
      expect(wordsInCommon(said, said)).toHaveLength(said.length);
    }),
  );
  expect(wordsInCommon(['a', 'x', 'c'], ['a', 'y', 'b', 'c'])).toEqual([
    [0, 0],
    [2, 3],
  ]);
});

const folder = useFolder();
const tone = async (name: string, hertz: number, seconds: number) => ({
  ...{ name, text: name },
  file: await ffmpeg('-f', 'lavfi', '-i', `sine=${hertz}:r=16000:d=${seconds}`, join(folder, name.replace('/', '-'))),
});

const clips = () =>
  Promise.all([
    ...[tone('ann/1.wav', 300, 3), tone('ann/2.wav', 310, 1), tone('bob/1.wav', 900, 2), tone('bob/2.wav', 910, 3)],
    ...[tone('cid/1.wav', 2000, 4), tone('cid/2.wav', 2010, 1), tone('cid/3.wav', 2020, 2)],
  ]);
const voices = async () => voicesOf(await clips());

test.each(['clean', 'overlaps', 'reverberation', 'noise', 'telephone'] as const)(
  'a meeting, %s → turns of different people; the same seed, the same meeting',
  async (sound) => {
    const plan = { sound, people: 3, minutes: 0.5 };
    const [first, again] = [join(folder, `${sound}.wav`), join(folder, `${sound}-again.wav`)];
    const { turns } = await makeMeeting(first, await voices(), plan, 7);
    expect(await makeMeeting(again, await voices(), plan, 7)).toEqual({ file: again, turns });
    expect((await readFile(first)).equals(await readFile(again))).toBe(true);
    expect(new Set(turns.map(({ who }) => who))).toEqual(new Set(['ann', 'bob', 'cid']));
    turns.slice(1).forEach(({ who }, index) => expect(who).not.toBe(turns[index]!.who));
    const early = turns.slice(1).filter(({ startMs }, index) => startMs < turns[index]!.endMs);
    expect(early.length > 0).toBe(sound === 'overlaps');
  },
);

test('the turns of a meeting → where somebody is heard, and nobody is between them', async () => {
  const plan = { sound: 'clean', people: 2, minutes: 0.5 } as const;
  const { file, turns } = await makeMeeting(join(folder, 'heard.wav'), await voices(), plan, 3);
  const bytes = (await readFile(file)).subarray(44);
  expect(bytes.length).toBe(0.5 * 60 * 32_000);
  const isHeard = (fromMs: number, toMs: number) => bytes.subarray(fromMs * 32, toMs * 32).some((byte) => byte !== 0);
  for (const [index, { startMs, endMs }] of turns.entries()) {
    expect(isHeard(startMs, startMs + 20) && isHeard(endMs - 20, endMs)).toBe(true);
    expect(isHeard(endMs + 1, (turns[index + 1]?.startMs ?? 30_000) - 1)).toBe(false);
  }
});
