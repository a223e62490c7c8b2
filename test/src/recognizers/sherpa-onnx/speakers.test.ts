import { speechToKnow, turnsBySpeaker, withSpeakers } from '../../../../src/recognizers/sherpa-onnx/voices.ts';
import type { Turn } from '../../../../src/recognizers/sherpa-onnx/voices.ts';

const span = (startMs: number, endMs: number) => ({ startMs, endMs });
const turn = (startMs: number, endMs: number, speaker: number): Turn => ({ startMs, endMs, speaker });
const speakersOf = (parts: { startMs: number; endMs: number }[], turns: Turn[]) =>
  withSpeakers(parts, turns).map((part) => part.speaker);

describe('who speaks a word', () => {
  test.each([
    ['of several turns', [span(0, 900)], [turn(0, 300, 1), turn(300, 700, 0), turn(700, 900, 1)], ['1']],
    [
      'two at once → who has been speaking',
      [span(0, 400), span(500, 700)],
      [turn(0, 900, 0), turn(450, 800, 1)],
      ['0', '0'],
    ],
    [
      'nobody, but somebody half a second before or after',
      [span(0, 200), span(900, 1000)],
      [turn(300, 600, 0)],
      ['0', '0'],
    ],
    ['nobody, between two → who is nearer', [span(500, 600)], [turn(0, 400, 0), turn(650, 900, 1)], ['1']],
    ['a word without length', [span(500, 500)], [turn(0, 1000, 0)], ['0']],
    ['nobody for longer', [span(0, 100), span(2000, 2100)], [turn(700, 1400, 0)], [undefined, undefined]],
  ])('%s', (_, words, turns, expected) => {
    expect(speakersOf(words, turns)).toEqual(expected);
  });
});

test('hundreds of speakers → the hundred that speak most', () => {
  const turns = Array.from({ length: 300 }, (_, index) => turn(index * 1000, index * 1000 + 400 + index, index));
  const most = turnsBySpeaker([...turns, turn(400_000, 450_000, 0)]);
  expect(most.map(([first]) => first!.speaker)).toEqual([0, ...Array.from({ length: 99 }, (_, index) => 299 - index)]);
  expect(most[0]).toEqual([turn(0, 400, 0), turn(400_000, 450_000, 0)]);
});

describe('what a voice is known by', () => {
  test('others speak into it → the rest, the longest first', () => {
    const own = [span(0, 2000), span(5000, 9000)];
    expect(speechToKnow(own, [span(500, 1000), span(8500, 10_000)])).toEqual([
      ...[span(5000, 8500), span(1000, 2000), span(0, 500)],
    ]);
  });

  test('others speak into nearly all of it → all of it', () => {
    expect(speechToKnow([span(0, 1000)], [span(0, 600)])).toEqual([span(0, 1000)]);
  });

  test('hours of it → 30 s', () => {
    const own = [span(0, 20_000), span(30_000, 45_000), span(50_000, 51_000)];
    expect(speechToKnow(own, [])).toEqual([span(0, 20_000), span(30_000, 40_000)]);
  });
});
