import type { Word } from '../../../src/captions/segment.ts';
import { segmentsFromTexts, segmentsFromUtterances } from '../../../src/captions/segments.ts';

/** `count` words of 200 ms, one every `everyMs`. */
function words(count: number, everyMs: number, from = 0): Word[] {
  return Array.from({ length: count }, (_, position) => {
    const startMs = from + position * everyMs;
    return { startMs, endMs: startMs + 200, text: `w${position}` };
  });
}

const texts = (utterances: Word[][], durationMs = 3_600_000): string[] =>
  segmentsFromUtterances(utterances, durationMs).map((segment) => segment.text);

test('no utterances, or none with words → no segments', () => {
  expect(segmentsFromUtterances([], 1000)).toEqual([]);
  expect(segmentsFromUtterances([[], [{ startMs: 0, endMs: 10, text: ' ' }]], 1000)).toEqual([]);
});

test('two utterances close together → a segment each, numbered', () => {
  const segments = segmentsFromUtterances([words(2, 250), words(2, 250, 500)], 10_000);
  expect(segments).toMatchObject([
    { index: 0, startMs: 0, endMs: 450, text: 'w0 w1' },
    { index: 1, startMs: 500, endMs: 950, text: 'w0 w1' },
  ]);
});

test.each([
  ['of 0.6 s, behind and before a second of speech', 600, 6, 2],
  ['of 0.6 s, before a word alone', 600, 1, 1],
  ['of 0.2 s', 200, 6, 1],
  ['of 1.5 s, before a word alone', 1_500, 1, 2],
])('a pause %s → %d ms before %d words, captions: %d', (_, pauseMs, count, captions) => {
  expect(texts([[...words(6, 200), ...words(count, 200, 1_200 + pauseMs)]])).toHaveLength(captions);
});

test('speech without pauses → at most 20 words and 7 s in each segment, no word lost', () => {
  for (const everyMs of [200, 390, 790]) {
    const segments = segmentsFromUtterances([words(100, everyMs)], 100_000);
    for (const segment of segments) {
      expect(segment.words.length).toBeLessThanOrEqual(20);
      expect(segment.endMs - segment.startMs).toBeLessThanOrEqual(7_000);
    }
    expect(segments.flatMap((segment) => segment.words)).toHaveLength(100);
  }
});

test('times out of order, overlapping, outside and fractional → ordered integers within the audio', () => {
  const utterances: Word[][] = [
    [{ startMs: 700, endMs: 2000, text: 'last' }],
    [
      { startMs: 400.4, endMs: 300, text: 'second' },
      { startMs: -50, endMs: 450.6, text: ' first ' },
    ],
    [{ startMs: 440, endMs: 800, text: 'third' }],
    [{ startMs: 5000, endMs: 6000, text: 'beyond' }],
  ];
  const segments = segmentsFromUtterances(utterances, 1000);
  expect(segments.map(({ startMs, endMs, text }) => [startMs, endMs, text])).toEqual([
    [0, 451, 'first second'],
    [451, 800, 'third'],
    [800, 1000, 'last'],
    [1000, 1000, 'beyond'],
  ]);
});

test('confidence → the mean of the words that have one, 4 decimals; none → absent', () => {
  const word = (startMs: number, confidence?: number): Word => ({
    ...{ startMs, endMs: startMs + 100, text: 'w' },
    ...(confidence !== undefined && { confidence }),
  });
  const [segment] = segmentsFromUtterances([[word(0, 0.123456), word(100, 0), word(200)]], 1000);
  expect(segment!.confidence).toBe(0.0618);
  expect(segment!.words.map(({ confidence }) => confidence)).toEqual([0.1235, 0, undefined]);
  const [without] = segmentsFromUtterances([[word(0)]], 1000);
  expect(without).not.toHaveProperty('confidence');
  expect(without).not.toHaveProperty('speaker');
});

/** Words of 300 ms without pauses. */
const said = (text: string, from = 0): Word[] =>
  text.split(' ').map((word, position) => ({
    ...{ startMs: from + position * 300, endMs: from + position * 300 + 300, text: word },
  }));

test('ends of sentences → a segment each; capitals and punctuation stay as they are', () => {
  expect(texts([said('We met on Monday. Who was there then? "Everyone," she said to them all.')])).toEqual([
    ...['We met on Monday.', 'Who was there then?', '"Everyone," she said to them all.'],
  ]);
});

test.each([
  'Then Mr. Dashwood left for the day.',
  'We met J. R. Ewing in Dallas.',
  'Some fruit, e.g. Apples from Kent, was left.',
  'It went on and on... and on.',
])('no end of a sentence within "%s" → one segment', (text) => {
  expect(texts([said(text)])).toEqual([text]);
});

test('a word of ten million letters and full stops → a word', () => {
  const word = 'ж.'.repeat(5_000_000);
  expect(texts([said(`It said ${word} And so on.`)]).join(' ').length).toBe(word.length + 19);
});

test('more than two lines of 42 characters → cut at the comma in the second half', () => {
  const text =
    'considerably uncomfortable arrangements notwithstanding everybody, representatives unanimously congratulated themselves';
  expect(texts([said(text)])).toEqual([
    'considerably uncomfortable arrangements notwithstanding everybody,',
    'representatives unanimously congratulated themselves',
  ]);
});

test('without commas → cut at the longest pause in the second half', () => {
  const words = Array.from({ length: 24 }, (_, i) => ({ startMs: i * 300, endMs: i * 300 + 200, text: `w${i}` }));
  for (const word of words.slice(15)) [word.startMs, word.endMs] = [word.startMs + 80, word.endMs + 80];
  expect(texts([words])[0]!.split(' ')).toHaveLength(15);
});

test.each([
  ['2.9 s, in the middle of a sentence', 2_900, {}, 'the'],
  ['3 s', 3_000, {}, 'The'],
  ['no time, and another speaker', 0, { speaker: 'S2' }, 'The'],
])('two texts without times, %s between them → the second begins with %4$s', (_, pauseMs, who, first) => {
  const second = { startMs: 1_000 + pauseMs, endMs: 5_000, text: 'The other one of the two', ...who };
  const both = [{ startMs: 0, endMs: 1_000, text: 'and then it was' }, second];
  const segments = segmentsFromTexts(both, 5_000, (stretch) => [stretch]);
  expect(segments.map(({ text }) => text)).toEqual(['and then it was', `${first} other one of the two`]);
});

test('another speaker → a new segment that names him', () => {
  const words = [
    { startMs: 0, endMs: 300, text: 'hello', speaker: 'S1' },
    { startMs: 300, endMs: 600, text: 'hi', speaker: 'S2' },
  ];
  const segments = segmentsFromUtterances([words], 1000);
  expect(segments.map(({ speaker, text }) => [speaker, text])).toEqual([
    ['S1', 'hello'],
    ['S2', 'hi'],
  ]);
  expect(segments[0]!.words).toEqual([{ startMs: 0, endMs: 300, text: 'hello' }]);
});

test('NUL and halves of characters, which PostgreSQL can not store → dropped, with words that are nothing else', () => {
  const said = ['a\0b', '\ud83d', 'c\ude00', '😀'].map((text, at) => ({
    text,
    startMs: at * 100,
    endMs: at * 100 + 50,
  }));
  expect(texts([said])).toEqual(['ab c 😀']);
  expect(segmentsFromTexts([{ text: 'one\0 \ud83d two', startMs: 0, endMs: 900 }], 1_000, () => [])[0]!.text).toBe(
    'one two',
  );
});
