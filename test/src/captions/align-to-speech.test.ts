/** Times of a text by the speech in which it was said. */
import { alignToSpeech } from '../../../src/captions/align-to-speech.ts';
import { splitWords } from '../../../src/captions/lines.ts';
import { segmentsFromTexts } from '../../../src/captions/segments.ts';

type Times = [startMs: number, endMs: number];
const stretches = (...times: Times[]) => times.map(([startMs, endMs]) => ({ startMs, endMs }));
const laid = (text: string, ...spoken: Times[]) =>
  alignToSpeech(splitWords(text), stretches(...spoken)).map(({ startMs, endMs }, index) => [
    splitWords(text)[index]!.text,
    Math.round(startMs),
    Math.round(endMs),
  ]);

test('no pause → by letters, without punctuation', () => {
  expect(laid('I, “see”', [1000, 2000])).toEqual([
    ['I,', 1000, 1250],
    ['“see”', 1250, 2000],
  ]);
});

test('as many words as stretches, all about as long → one each, so that neither a beginning nor an end is without its word', () => {
  expect(laid('low high high', [300, 700], [1300, 1700], [2300, 2700])).toEqual([
    ['low', 300, 700],
    ['high', 1300, 1700],
    ['high', 2300, 2700],
  ]);
});

/** Stretches in `|`, each so long as its words take at 60 ms for a letter, and a little more or less; pauses in ms. */
test.each([
  ['the end of a sentence at a pause, although the speaker slows down', 'One two. |500 Three four five six seven', 1.3],
  [
    'a pause inside a sentence, and a longer one behind it',
    'And the answer that comes back is, well, |1900 I would not start from here, Sonny. |2600 That is to say, we would not.',
    1,
  ],
  ['a pause before a phrase, without a mark', 'they were very proud |1600 of what they had done in the old days', 1.15],
])('%s → each word in its stretch', (_, text, drift) => {
  let endMs = 0;
  const parts = text.split('|').map((part, index) => {
    const [, pauseMs, said] = /^(\d+ )?(.*)$/.exec(part)!;
    const startMs = endMs + Number(pauseMs ?? 0);
    endMs = startMs + 60 * said!.replace(/\P{L}/gu, '').length * (index % 2 === 0 ? drift : 1 / drift);
    return { said: said!.trim(), startMs, endMs };
  });
  const words = splitWords(parts.map(({ said }) => said).join(' '));
  const times = alignToSpeech(words, parts);
  const inOrder = parts.flatMap(({ said, startMs }) => said.split(' ').map((word) => [word, startMs]));
  const stretchOf = (ms: number) => parts.findLast(({ startMs }) => startMs <= ms + 1e-6)!.startMs;
  expect(words.map(({ text: word }, index) => [word, stretchOf(times[index]!.startMs)])).toEqual(inOrder);
});

test('a stretch in which nothing was heard → stays empty', () => {
  expect(laid('aaaa. Bbbb cccc dddd', [0, 800], [1100, 1400], [3500, 5900])).toEqual([
    ['aaaa.', 0, 800],
    ['Bbbb', 3500, 4300],
    ['cccc', 4300, 5100],
    ['dddd', 5100, 5900],
  ]);
});

test('half a minute with a hundred pauses and 6,000 words, or none at all in no time → laid in a moment', () => {
  const spoken = Array.from({ length: 100 }, (_, index) => ({ startMs: index * 330, endMs: index * 330 + 30 }));
  expect(alignToSpeech(splitWords('a, '.repeat(6_000)), spoken)).toHaveLength(6_000);
  expect(alignToSpeech(splitWords('a, '.repeat(600)), stretches([0, 0], [900, 900]))).toHaveLength(600);
});

/**
 * The five clips of pocketsphinx-testdata with pauses of 0.4, 0.8, 1.2 and 0.4 s between them, as Moonshine tiny heard
 * them in one chunk. Starts are those of Whisper base's alignment, moved out of the silences that it begins in.
 */
test('a reading of 27 s in one chunk → captions begin within 0.35 s of what is said in them', () => {
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
    ['how much there', 3_548],
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
