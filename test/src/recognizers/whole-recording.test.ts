import { joinChannels } from '../../../src/recognizers/whole-recording.ts';
import type { Segment } from '../../../src/captions/segment.ts';

const said = (startMs: number, text: string, speaker?: string): Segment => ({
  ...{ index: 0, startMs, endMs: startMs + 500, text, words: [] },
  ...(speaker !== undefined && { speaker }),
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
