import { joinChannels } from '../../../src/recognizers/whole-recording.ts';
import type { Segment } from '../../../src/captions/segment.ts';

const said = (startMs: number, text: string, speaker?: string): Segment => ({
  ...{ index: 0, startMs, endMs: startMs + 500, text, words: [] },
  ...(speaker !== undefined && { speaker }),
});

test('segments of two channels → in order of time, numbered anew, each with its channel', () => {
  const joined = joinChannels([
    { language: 'en-US', segments: [said(0, 'good morning'), said(2_000, 'fine')] },
    { language: 'en-US', segments: [said(0, 'hello'), said(1_000, 'how are you')] },
  ]);
  expect(joined.language).toBe('en-US');
  expect(joined.segments.map(({ index, text, channel }) => [index, text, channel])).toEqual([
    [0, 'good morning', 1],
    [1, 'hello', 2],
    [2, 'how are you', 2],
    [3, 'fine', 1],
  ]);
});

test('the same label in two channels → two speakers, numbered as they begin to speak', () => {
  const { segments } = joinChannels([
    { segments: [said(1_000, 'a', 'S1'), said(3_000, 'b', 'S2')] },
    { segments: [said(0, 'c', 'S1'), said(2_000, 'd', 'S1')] },
  ]);
  expect(segments.map(({ text, speaker }) => [text, speaker])).toEqual([
    ['c', 'S1'],
    ['a', 'S2'],
    ['d', 'S1'],
    ['b', 'S3'],
  ]);
});

test('the language → the one that is spoken most; none, where no channel has one', () => {
  expect(
    joinChannels([
      { language: 'ja', segments: [] },
      { language: 'en', segments: [said(0, 'yes')] },
      { language: 'de', segments: [said(0, 'ja'), said(1_000, 'so ist es')] },
    ]).language,
  ).toBe('de');
  expect(joinChannels([{ segments: [] }])).toEqual({ segments: [] });
});
