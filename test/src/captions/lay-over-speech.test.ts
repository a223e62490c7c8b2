/** Times of a text by the speech in which it was said. */
import { layOverSpeech } from '../../../src/captions/lay-over-speech.ts';
import { splitWords } from '../../../src/captions/lines.ts';
import { segmentsFromTexts } from '../../../src/captions/segments.ts';

type Times = [startMs: number, endMs: number];
const stretches = (...times: Times[]) => times.map(([startMs, endMs]) => ({ startMs, endMs }));
const laid = (text: string, ...spoken: Times[]) =>
  layOverSpeech(splitWords(text), stretches(...spoken)).map(({ startMs, endMs }, index) => [
    splitWords(text)[index]!.text,
    Math.round(startMs),
    Math.round(endMs),
  ]);

test.each<[string, string, Times[], [string, number, number][]]>([
  ['no pause → by letters, without punctuation', 'I, “see”', [[1000, 2000]], [['I,', 1000, 1250], ['“see”', 1250, 2000]]], // prettier-ignore
  [
    'the end of a sentence near a pause → there, although the text after it is longer',
    'One two. Three four five six seven',
    [
      [0, 1000],
      [1500, 4000],
    ],
    [
      ['One', 0, 500],
      ['two.', 500, 1000],
      ['Three', 1500, 2095],
      ['four', 2095, 2571],
      ['five', 2571, 3048],
      ['six', 3048, 3405],
      ['seven', 3405, 4000],
    ],
  ],
  [
    'of a sentence and a clause the sentence is drawn to a pause that is as near to both',
    'aaaa, bbbb. Cccc',
    [
      [0, 1500],
      [2200, 3700],
    ],
    [
      ['aaaa,', 0, 750],
      ['bbbb.', 750, 1500],
      ['Cccc', 2200, 3700],
    ],
  ],
  [
    'a long pause far away rather than a short one nearby',
    'aaaa. Bbbb cccc dddd',
    [
      [0, 800],
      [1000, 1500],
      [3500, 5900],
    ],
    [
      ['aaaa.', 0, 1500],
      ['Bbbb', 3500, 4300],
      ['cccc', 4300, 5100],
      ['dddd', 5100, 5900],
    ],
  ],
  [
    'a pause that is nearer to no end than it is long → no end is drawn there, and a word may lie over it',
    'aaaa bbbb cccc. Dddd',
    [
      [0, 1500],
      [1700, 4200],
    ],
    [
      ['aaaa', 0, 1000],
      ['bbbb', 1000, 2200],
      ['cccc.', 2200, 3200],
      ['Dddd', 3200, 4200],
    ],
  ],
  [
    'a pause of a second where no sentence ends → no word lies over it',
    'aaaa bbbb cccc',
    [
      [0, 1400],
      [2400, 4000],
    ],
    [
      ['aaaa', 0, 1000],
      ['bbbb', 2400, 3000],
      ['cccc', 3000, 4000],
    ],
  ],
  ['more pauses than ends, and a full stop at the end → all time is used', 'aaaa.', [[0, 100], [200, 300], [400, 500]], [['aaaa.', 0, 500]]], // prettier-ignore
  ['Mr. ends no sentence', 'Mr. Dash wood', [[0, 250], [900, 1900]], [['Mr.', 0, 250], ['Dash', 900, 1400], ['wood', 1400, 1900]]], // prettier-ignore
])('%s', (_, text, spoken, times) => {
  expect(laid(text, ...spoken)).toEqual(times);
});

test('any text over any speech → in order, within the speech, no word without its time', () => {
  const text = 'So. It was, in short, the best of times; it was the worst of times! Was it? Yes.';
  const spoken = stretches([100, 300], [350, 360], [1_000, 1_900], [2_000, 2_050], [5_000, 6_500]);
  const times = layOverSpeech(splitWords(text), spoken);
  times.forEach(({ startMs, endMs }, index) => {
    expect(startMs).toBeLessThanOrEqual(endMs);
    if (index > 0) expect(startMs).toBeGreaterThanOrEqual(times[index - 1]!.endMs - 1e-6);
    for (const ms of [startMs, endMs])
      expect(spoken.some((stretch) => ms >= stretch.startMs - 1e-6 && ms <= stretch.endMs + 1e-6)).toBe(true);
  });
});

test('a minute of commas over a thousand pauses → laid in a moment', () => {
  const spoken = Array.from({ length: 1_000 }, (_, index) => ({ startMs: index * 60, endMs: index * 60 + 30 }));
  const text = 'a, '.repeat(6_000);
  expect(layOverSpeech(splitWords(text), spoken)).toHaveLength(6_000);
});

/**
 * The five clips of pocketsphinx-testdata with pauses of 0.4, 0.8, 1.2 and 0.4 s between them, as Moonshine tiny heard
 * them in one piece. Starts are those of Whisper base's alignment, moved out of the silences that it begins in.
 */
test('a reading of 27 s in one piece → captions begin within 0.35 s of what is said in them', () => {
  const text =
    'And Mr. John Dashwood had then leisure to consider how much there might be prudently in his power to do for them. ' +
    'He was not an ill-disposed young man. Unless to be rather cold-hearted and rather selfish is to be ill-disposed. ' +
    'Had he married a more amiable woman, he might have been made still more respectable than he was. ' +
    'He might even have been made amiable himself.';
  const spoken = stretches([308, 6_924], [7_765, 10_289], [11_553, 16_357], [18_068, 23_612], [24_500, 27_520]);
  const segments = segmentsFromTexts([{ text, startMs: 0, endMs: 27_530 }], 27_530, () => spoken);
  const starts = segments.map(({ startMs, text: caption }) => [caption.split(' ').slice(0, 3).join(' '), startMs]);
  const said = [
    ['And Mr. John', 308],
    ['in his power', 5_480],
    ['He was not', 7_765],
    ['Unless to be', 11_553],
    ['Had he married', 18_057],
    ['he might have', 20_440],
    ['He might even', 24_241],
  ];
  expect(starts.map(([caption]) => caption)).toEqual(said.map(([caption]) => caption));
  const errors = starts.map(([, startMs], index) => Math.abs((startMs as number) - (said[index]![1] as number)));
  expect(Math.max(...errors)).toBeLessThanOrEqual(350);
});
