import { wordsOf } from '../../../../src/recognizers/sherpa-onnx/words.ts';
import { joinWords } from '../../../../src/captions/lines.ts';
import { RecognizerError } from '../../../../src/recognizers/recognizer.ts';
import type { OfflineResult } from 'sherpa-onnx-node';

const heard = (tokens: string[], timestamps: number[], rest: Partial<OfflineResult> = {}): OfflineResult => ({
  ...{ lang: '', text: tokens.join(''), tokens, timestamps, durations: [], ys_log_probs: [] },
  ...rest,
});

test('tokens → words that begin where a token begins with a space or ▁, punctuation with the word before it', () => {
  const result = heard(['▁He', 'll', 'o', ',', ' wor', 'ld', '.'], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]);
  expect(wordsOf(result, 10_000, 20_000)).toEqual([
    { startMs: 10_100, endMs: 10_500, text: 'Hello,' },
    { startMs: 10_500, endMs: 11_100, text: 'world.' },
  ]);
});

test('Chinese tokens → a word each', () => {
  expect(wordsOf(heard(['今', '天', ' ok', '好'], [0, 0.2, 0.4, 0.6]), 0, 1000).map(({ text }) => text)).toEqual([
    ...['今', '天', 'ok', '好'],
  ]);
});

test.each([
  ['Japanese with a long vowel', ['コ', 'ー', 'ヒ', 'ー', 'を', '飲', 'む'], 'コーヒーを飲む'],
  ['Chinese with its punctuation', ['今', '天', '，', '好', '。'], '今天，好。'],
  ['Korean, which has spaces', ['▁오늘', '은', '▁좋', '다'], '오늘은 좋다'],
  ['Thai, whose tokens are parts of words', ['▁สวัส', 'ดี', 'ครับ'], 'สวัสดีครับ'],
  ['mixed scripts', ['▁I', 'Pad', 'の', '話', '▁ok'], 'IPad の話 ok'],
])('%s → joined as it is written', (_, tokens, text) => {
  const words = wordsOf(heard(tokens, tokens.map((_token, index) => index / 10)), 0, 10_000); // prettier-ignore
  expect(joinWords(words)).toBe(text);
});

test('characters that the model writes as bytes → characters again, with the times of all their bytes', () => {
  const tokens = ['▁caf', '<0xC3>', '<0xA9>', '<0xF0>', '<0x9F>', '<0x8E>', '<0x99>', '▁<0xC3>', '.'];
  const words = wordsOf(heard(tokens, [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]), 0, 10_000);
  expect(words.map(({ text }) => text)).toEqual(['café🎙', '<0xC3>.']);
  expect(words[0]).toMatchObject({ startMs: 0, endMs: 700 });
});

test('the last token → no longer than 400 ms, than it says itself, or than the chunk', () => {
  expect(wordsOf(heard([' a'], [1]), 0, 9000)[0]).toMatchObject({ startMs: 1000, endMs: 1400 });
  expect(wordsOf(heard([' a'], [1], { durations: [0.08] }), 0, 9000)[0]).toMatchObject({ endMs: 1080 });
  expect(wordsOf(heard([' a'], [1]), 0, 1200)[0]).toMatchObject({ endMs: 1200 });
});

test('logarithms of probabilities → the confidence of the whole word; none, or rubbish → absent', () => {
  const logarithms = [Math.log(0.5), Math.log(0.5), Math.log(0.9)];
  const words = wordsOf(heard([' a', 'b', ' c'], [0, 0.1, 0.2], { ys_log_probs: logarithms }), 0, 1000);
  expect(words[0]!.confidence).toBeCloseTo(0.25);
  expect(words[1]!.confidence).toBeCloseTo(0.9);
  expect(wordsOf(heard([' a'], [0]), 0, 1000)[0]).not.toHaveProperty('confidence');
  expect(wordsOf(heard([' a'], [0], { ys_log_probs: [NaN] }), 0, 1000)[0]).not.toHaveProperty('confidence');
});

test('text without times, with its tokens or without → RecognizerError, not retryable: it is no silence', () => {
  for (const result of [heard([' a', ' b'], []), heard([], [], { text: 'a b' })]) {
    expect(() => wordsOf(result, 0, 1000)).toThrow(RecognizerError);
    expect(() => wordsOf(result, 0, 1000)).toThrow(expect.objectContaining({ retryable: false }));
  }
});

test('silence, times beyond the chunk, tokens of spaces → no words, none beyond it, none empty', () => {
  expect(wordsOf(heard([], []), 0, 1000)).toEqual([]);
  expect(wordsOf(heard([' '], []), 0, 1000)).toEqual([]);
  expect(wordsOf(heard([' a', ' ', ' b'], [0.5, 3, 5]), 0, 1000)).toEqual([
    { startMs: 500, endMs: 900, text: 'a' },
    { startMs: 1000, endMs: 1000, text: 'b' },
  ]);
});
