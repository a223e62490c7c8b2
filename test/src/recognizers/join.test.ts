import fc from 'fast-check';
import { joinChunks } from '../../../src/recognizers/join.ts';
import type { Word } from '../../../src/captions/segment.ts';

const word = (text: string, startMs: number, endMs: number): Word => ({ text, startMs, endMs });
/** Two chunks that meet at 10 s and hear 1 s beyond it. */
const left = { startMs: 0, endMs: 10_000, windowStartMs: 0, windowEndMs: 11_000 };
const right = { startMs: 10_000, endMs: 20_000, windowStartMs: 9_000, windowEndMs: 20_000 };
const heard = (chunk: typeof left, ...words: Word[]) => ({ chunk, utterances: [words] });
const textsOf = (utterances: Word[][]) => utterances.flat().map(({ text }) => text);
const joined = (heardLeft: Word[], heardRight: Word[]) =>
  textsOf(joinChunks([heard(left, ...heardLeft), heard(right, ...heardRight)])).join(' ');

test('both heard a word at times that are half a second apart → no other word is lost at it', () => {
  const heardLeft = [
    word('all', 9000, 9400),
    word('Going', 9500, 9900),
    word('to', 9900, 10_000),
    word('have', 10_000, 10_400),
  ];
  const heardRight = [word('going,', 9000, 9400), word('direct', 9400, 9900), word('to', 9900, 10_000), word('heaven', 10_000, 11_000)]; // prettier-ignore
  expect(joined(heardLeft, heardRight)).toBe('all Going to heaven');
  expect(joined(heardLeft.slice(0, 2), heardRight)).toBe('all Going direct to heaven');
});

test('a mark that both wrote → is no word in common', () => {
  const chunks = [
    heard(left, word('你好', 9000, 9500), word('，', 9500, 9600)),
    heard(right, word('再', 9000, 9400), word('，', 9500, 9600), word('见', 10_000, 10_300)),
  ];
  expect(textsOf(joinChunks(chunks, true)).join('')).toBe('你好，再，见');
});

test('a side that was heard from, or to, the cut, with a text → the word across it, that the other heard, is there', () => {
  const toCut = heard({ ...left, windowEndMs: 10_000 }, word('a long text', 5000, 10_000));
  const fromCut = heard({ ...right, windowStartMs: 10_000 }, word('a long text', 10_000, 15_000));
  const before = [word('a', 9000, 9500), word('across', 9900, 10_200), word('twice', 10_300, 10_600)];
  const after = [word('twice', 9500, 9700), word('across', 9800, 10_150), word('b', 11_000, 11_500)];
  const textOf = (...chunks: (typeof toCut)[]) => textsOf(joinChunks(chunks)).join(' ');
  expect(textOf(heard(left, ...before), fromCut)).toBe('a across a long text');
  expect(textOf(toCut, heard(right, ...after))).toBe('a long text across b');
});

test('utterances → kept apart; those left without words vanish', () => {
  const utterances = joinChunks([
    { chunk: left, utterances: [[word('a', 0, 500)], [word('b', 700, 900), word('c', 10_500, 10_900)]] },
    { chunk: right, utterances: [[word('b', 9000, 9100)], [word('c', 10_500, 10_900), word('d', 11_500, 11_900)]] },
  ]);
  expect(utterances.map((words) => words.map(({ text }) => text))).toEqual([['a'], ['b', 'c'], ['d']]);
});

test('no word in common, and times that are off → all that both heard, in order of time', () => {
  const chunks = [
    heard(left, word('thriftless', 9000, 9700), word('praise', 9700, 10_300)),
    heard(right, word('How', 9000, 9400), word('much', 9400, 10_400), word('more', 10_400, 11_000)),
  ];
  const words = joinChunks(chunks, true).flat();
  expect(words.map(({ text, startMs, endMs }) => [text, startMs, endMs])).toEqual([
    ['thriftless', 9000, 9700],
    ['praise', 9700, 10_300],
    ['How', 10_300, 10_300],
    ['much', 10_300, 10_400],
    ['more', 10_400, 11_000],
  ]);
  expect(joinChunks(chunks).flat()).toHaveLength(3);
});

test.each([
  [60, false],
  [400, true],
])('any speech, heard within %i ms of its time by both sides → no word lost, none doubled', (mostMs, areTimesRough) => {
  // A word, then a pause that is longer than what the two sides may differ by.
  const spoken = fc.array(fc.tuple(fc.integer({ min: 130, max: 600 }), fc.integer({ min: 150, max: 900 })), {
    ...{ minLength: 1, maxLength: 25 },
  });
  const shifts = fc.infiniteStream(fc.integer({ min: -mostMs, max: mostMs }));
  fc.assert(
    fc.property(spoken, shifts, (lengths, shift) => {
      let at = 7000;
      const words = lengths.map(([length, pause], index) => {
        const startMs = at;
        at += length + pause;
        return word(`w${index}`, startMs, startMs + length);
      });
      const heardBy = ({ windowStartMs, windowEndMs }: typeof left) =>
        words
          .filter(({ startMs, endMs }) => startMs >= windowStartMs && endMs <= windowEndMs)
          .map(({ text, startMs, endMs }) => {
            const by = shift.next().value;
            return word(text, startMs + by, endMs + by);
          });
      const whole = words.filter(({ endMs }) => endMs <= 20_000).map(({ text }) => text);
      const chunks = [left, right].map((chunk) => heard(chunk, ...heardBy(chunk)));
      expect(textsOf(joinChunks(chunks, areTimesRough))).toEqual(whole);
    }),
    { seed: 1, numRuns: 500 },
  );
});

/** What a chunk hears of words: those that lie in it whole, those of which it hears most, or whatever of them it can. */
const hearings: Record<string, (words: Word[], from: number, to: number) => Word[]> = {
  'whole words': (words, from, to) => words.filter(({ startMs, endMs }) => startMs >= from && endMs <= to),
  'most of a word': (words, from, to) =>
    words.filter(({ startMs, endMs }) => startMs + endMs >= 2 * from && startMs + endMs <= 2 * to),
  'parts of words': (words, from, to) =>
    words
      .filter(({ startMs, endMs }) => endMs > from && startMs < to)
      .map(({ text, startMs, endMs }) => word(text, Math.max(from, startMs), Math.min(to, endMs))),
};
const vocabularies = [1, 2, 2_000].flatMap((size) => Object.keys(hearings).map((hears) => [size, hears] as const));

test.each(vocabularies)('%i words said again and again, %s heard perfectly by both → what was said', (size, hears) => {
  const lengths = fc.tuple(fc.nat(size - 1), fc.integer({ min: 60, max: 900 }), fc.nat(400));
  fc.assert(
    fc.property(fc.array(lengths, { minLength: 60, maxLength: 60 }), fc.constantFrom(500, 1_000), (said, overlapMs) => {
      let at = 6_000;
      const words = said.map(([text, length, pause]) => {
        at += pause;
        return word(`w${text}`, at, (at += length));
      });
      const chunks = [
        { ...left, windowEndMs: 10_000 + overlapMs },
        { ...right, windowStartMs: 10_000 - overlapMs },
      ].map((chunk) => heard(chunk, ...hearings[hears]!(words, chunk.windowStartMs, chunk.windowEndMs)));
      const middles = new Set(chunks.flatMap(({ utterances }) => utterances.flat().map((w) => w.startMs + w.endMs)));
      const expected = words.filter(({ startMs, endMs }) =>
        hears === 'parts of words' ? startMs < 20_000 : middles.has(startMs + endMs),
      );
      for (const areTimesRough of [false, true])
        expect(textsOf(joinChunks(chunks, areTimesRough))).toEqual(textsOf([expected]));
    }),
    { seed: 1, numRuns: 500 },
  );
});
