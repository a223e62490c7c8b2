import { changesIn } from '../../../../src/recognizers/sherpa-onnx/changes.ts';
import type { Turn } from '../../../../src/recognizers/sherpa-onnx/diarization-windows.ts';

const turn = (startMs: number, endMs: number, speaker: number): Turn => ({ startMs, endMs, speaker });

test.each<[string, Turn[], number[]]>([
  ['nobody', [], []],
  ['one person', [turn(0, 1000, 0), turn(2000, 3000, 0)], []],
  ['another goes on → the middle of the pause', [turn(0, 1000, 0), turn(1401, 3000, 1)], [1201]],
  ['a little before the first one ends', [turn(0, 1000, 0), turn(850, 3000, 1)], [925]],
  ['long before the first one ends', [turn(0, 1000, 0), turn(700, 3000, 1)], []],
  ['"yes" in between, while the first one speaks', [turn(0, 5000, 0), turn(2000, 2500, 1), turn(5100, 6000, 0)], []],
  ['a third one, after two at once', [turn(0, 5000, 0), turn(4000, 5500, 1), turn(6000, 7000, 2)], [5750]],
])('%s', (_, turns, changes) => {
  expect(changesIn(turns)).toEqual(changes);
});
