import { changesIn, joinWindows } from '../../../../src/recognizers/sherpa-onnx/voices.ts';
import type { DiarizedWindow, Turn } from '../../../../src/recognizers/sherpa-onnx/voices.ts';

const turn = (startMs: number, endMs: number, speaker: number): Turn => ({ startMs, endMs, speaker });

/** What is heard of a voice: seconds of speech, and a direction in which it lies. */
type Heard = [seconds: number, ...likeness: number[]];

const embedding = (values: number[]) => Buffer.from(Float32Array.from(values).buffer).toString('base64');

/** In each window the voices speak one after the other. Windows begin 1,000 s apart. */
const windowsOf = (windows: Heard[][]): DiarizedWindow[] =>
  windows.map((voices, index) => {
    const [startMs, endMs] = [index * 1_000_000, (index + 1) * 1_000_000];
    let from = 0;
    const speakers = voices.map(([seconds, ...likeness]) => {
      const turn: [number, number] = [from, (from += seconds * 1000)];
      return { turns: [turn], embedding: embedding(likeness) };
    });
    return { chunk: { startMs, endMs, windowStartMs: startMs, windowEndMs: endMs }, result: { speakers } };
  });

/** Who speaks each turn, numbered in the order in which they begin. */
function peopleOf(windows: Heard[][], most?: number): number[] {
  const numbers = new Map<number, number>();
  return joinWindows(windowsOf(windows), most).map(({ speaker }) => {
    if (!numbers.has(speaker)) numbers.set(speaker, numbers.size);
    return numbers.get(speaker)!;
  });
}

const named: Record<string, number[]> = {
  ...{ ann: [1, 0, 0], bob: [0, 1, 0], cid: [0, 0, 1], ann2: [0.9, 0.4, 0], bob2: [0, 0.9, 0.3] },
  ...{ loud: [7, 0, 0], nobody: [0.2, 0.5, 0.8], unknown: [NaN, 0, 0], empty: [0, 0, 0] },
};

/** Windows of `seconds voice`, as in `60 ann, 20 bob | 9 ann`. A voice is one of those above, or a direction in degrees. */
const voicesIn = (windows: string): Heard[][] =>
  windows.split('|').map((window) =>
    window.split(',').map((voice): Heard => {
      const [seconds, name] = voice.trim().split(' ') as [string, string];
      const radians = (Number(name) * Math.PI) / 180;
      return [Number(seconds), ...(named[name] ?? [Math.cos(radians), Math.sin(radians)])];
    }),
  );

test.each<[string, string, number[], number?]>([
  ['two people, one in two voices', '60 ann, 60 bob, 20 ann2', [0, 1, 0]],
  ['voices that are alike, however loud', '9 ann, 9 bob | 9 bob, 9 loud', [0, 1, 1, 0]],
  ['halfway between, with a cosine of 0.73', '9 0, 9 43', [0, 0]],
  ['halfway between, with a cosine of 0.71', '9 0, 9 45', [0, 1]],
  ['a chain of voices, each like the next → its ends stay two', '60 0, 60 80, 9 42', [0, 1, 1]],
  ['a scrap like nobody → whose voice is nearest', '9 ann, 9 bob, 2.9 nobody', [0, 1, 1]],
  ['3 s like nobody → somebody else', '9 ann, 9 bob, 3 nobody', [0, 1, 2]],
  ['scraps of one person that make 4 s together', '9 ann, 2 bob | 2 bob2', [0, 1, 1]],
  ['nothing but scraps', '1 ann, 1 bob', [0, 1]],
  ['somebody comes in the second window, and another one is away', '9 ann, 9 bob | 9 cid, 9 bob2', [0, 1, 2, 1]],
  ['three are said to be two → the most similar ones are one', '9 0, 9 60, 9 180', [0, 0, 1], 2],
  ['a scrap is none of those who are said to speak', '9 0, 9 60, 1 180', [0, 1, 1], 2],
  ['voices that can not be known → each its own', '9 unknown, 9 empty | 9 ann, 9 loud', [0, 1, 2, 2]],
  ['a scrap that can not be known → somebody who is', '9 ann, 1 empty', [0, 0]],
  // With the third voice in the first, the second one would be farther from it than the fourth is.
  ['of a voice that has to be somebody’s nothing is learnt', '60 0, 30 94, 20 159, 60 262', [0, 0, 0, 1], 2],
])('%s', (_, windows, people, ...[most]) => {
  expect(peopleOf(voicesIn(windows), most)).toEqual(people);
});

test('turns → with times of the recording, in order', () => {
  expect(joinWindows(windowsOf([[], ...voicesIn('5 ann, 4 bob, 3 ann')]))).toEqual([
    ...[turn(1_000_000, 1_005_000, 0), turn(1_005_000, 1_009_000, 1), turn(1_009_000, 1_012_000, 0)],
  ]);
});

test('hundreds of voices that are like nobody → a hundred people at the most', () => {
  const likeness = (one: number) => Array.from({ length: 150 }, (_, index) => (index === one ? 1 : 0));
  const window = (first: number) => Array.from({ length: 75 }, (_, index): Heard => [5, ...likeness(first + index)]);
  expect(new Set(peopleOf([window(0), window(75)])).size).toBe(100);
});

test.each<[string, Turn[], number[]]>([
  ['one person', [turn(0, 1000, 0), turn(2000, 3000, 0)], []],
  ['another goes on → the middle of the pause', [turn(0, 1000, 0), turn(1401, 3000, 1)], [1201]],
  ['a little before the first one ends', [turn(0, 1000, 0), turn(850, 3000, 1)], [925]],
  ['long before the first one ends', [turn(0, 1000, 0), turn(700, 3000, 1)], []],
  ['"yes" in between, while the first one speaks', [turn(0, 5000, 0), turn(2000, 2500, 1), turn(5100, 6000, 0)], []],
  ['a third one, after two at once', [turn(0, 5000, 0), turn(4000, 5500, 1), turn(6000, 7000, 2)], [5750]],
])('%s', (_, turns, changes) => {
  expect(changesIn(turns)).toEqual(changes);
});
