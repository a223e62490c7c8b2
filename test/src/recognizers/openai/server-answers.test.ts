/** What servers answer, well-behaved and not. */
import { loopingOf } from '../../../../src/recognizers/transcript-gaps.ts';
import { readBody } from '../../../../src/recognizers/openai/exchange.ts';
import { Refusal, isRefusalOf } from '../../../../src/recognizers/openai/refusal.ts';
import { readAnswer, toLanguageTag } from '../../../../src/recognizers/openai/server-answers.ts';
import { withPunctuation } from '../../../../src/recognizers/openai/punctuation.ts';
import { RecognizerError } from '../../../../src/recognizers/recognizer.ts';

const word = (text: string, start: number, end: number) => ({ word: text, start, end });
const segment = (text: string, start: number, end: number) => ({ text, start, end });
const spoken = (text: string, startMs: number, endMs: number) => ({ text, startMs, endMs });

test('verbose_json of OpenAI → words with times, and with the punctuation of the text', () => {
  const answer = {
    ...{ task: 'transcribe', language: 'english', duration: 3.0, text: 'Hello, world. It’s “me”!' },
    words: [word('Hello', 0, 0.5), word('world', 0.54, 0.9), word('It’s', 1.2, 1.4), word('me', 1.4000000059, 1.7)],
    segments: [segment(' Hello, world. It’s “me”!', 0, 3)],
  };
  expect(readAnswer(answer, 3000)).toEqual({
    timesOf: 'words',
    utterances: [
      [spoken('Hello,', 0, 500), spoken('world.', 540, 900), spoken('It’s', 1200, 1400), spoken('“me”!', 1400, 1700)],
    ],
    language: 'en',
  });
});

test('words within segments, with probabilities, as whisper.cpp has them → words with confidences', () => {
  const words = [
    { ...word(' Yes', 0.1, 0.4), probability: 0.75 },
    { ...word(' no.', 0.5, 0.9), probability: 2 },
  ];
  const answer = { text: ' Yes no.', language: 'en', segments: [{ ...segment(' Yes no.', 0, 1), words }] };
  const expected = [{ ...spoken('Yes', 100, 400), confidence: 0.75 }, spoken('no.', 500, 900)];
  expect(readAnswer(answer, 1000)).toEqual({ timesOf: 'words', utterances: [expected], language: 'en' });
});

describe("lines of whisper.cpp's server, which end in the middle of words", () => {
  const tokens = (start: number, ...list: string[]) =>
    list.map((text, index) => ({ ...word(text, start + index / 4, start + (index + 1) / 4), probability: 0.5 }));
  const lines = [
    { ...segment(' the lobb', 0, 2), words: tokens(0, ' the', ' lo', 'bb') },
    { ...segment('quaquaiosa said', 2, 4), words: tokens(2, 'qua', 'qua', 'iosa', ' said') },
    { ...segment(' so', 4, 5), words: tokens(4, ' so') },
  ];
  const text = ' the lobb\nquaquaiosa said\n so\n';

  test('with tokens → whole words, from their first token to their last', () => {
    const { timesOf, utterances } = readAnswer({ text, segments: lines }, 6000);
    const texts = utterances.flat().map((each) => each.text);
    expect([timesOf, texts]).toEqual(['words', ['the', 'lobbquaquaiosa', 'said', 'so']]);
    expect(utterances.flat()[1]).toMatchObject({ startMs: 250, endMs: 2750 });
  });

  test('without tokens → whole words, in the segment where they begin', () => {
    const segments = lines.map(({ text: line, start, end }) => segment(line, start, end));
    const { timesOf, utterances } = readAnswer({ text, segments }, 6000);
    const texts = utterances.flat().map((each) => each.text);
    expect([timesOf, texts]).toEqual(['segments', ['the lobbquaquaiosa', 'said', 'so']]);
  });

  test('in Japanese → nothing moves, and no space comes in', () => {
    const segments = [segment('コー', 0, 1), segment('ヒー', 1, 2)];
    const { utterances } = readAnswer({ text: 'コー\nヒー\n', segments }, 2000);
    expect(utterances.flat().map((each) => each.text)).toEqual(['コー', 'ヒー']);
  });
});

test('segments without words → each with its times, text, speaker, and its confidence where it is real', () => {
  const segments = [
    { ...segment(' One. ', 0, 1.5), avg_logprob: -0.5, compression_ratio: 1.2 },
    // vLLM for "unknown".
    { ...segment('Two.', 1.5, 2), avg_logprob: -1, compression_ratio: -1, speaker: 'A' },
    { ...segment('', 2, 2), avg_logprob: -1 },
  ];
  for (const words of [undefined, null, [], [{ word: 'One' }], [word('One', 0, 0.5), { start: 1, end: 2 }]]) {
    expect(readAnswer({ text: 'One. Two.', words, segments }, 2000)).toEqual({
      timesOf: 'segments',
      utterances: [[{ ...spoken('One.', 0, 1500), confidence: Math.exp(-0.5) }], [{ ...spoken('Two.', 1500, 2000), speaker: 'A' }]],
      language: undefined,
    }); // prettier-ignore
  }
});

test('segments in nanoseconds, as older LocalAI has them → the same times', () => {
  const segments = [segment('a', 0, 1.5e9), segment('b', 1.5e9, 2e9)];
  expect(readAnswer({ text: 'a b', segments }, 2000).utterances.flat()).toEqual([spoken('a', 0, 1500), spoken('b', 1500, 2000)]); // prettier-ignore
});

const digits = 'one, two, three, four, five, six, seven, eight, nine, ten.';
const allButTen = digits.split(' ').slice(0, -1).map((text, index) => word(text, index, index + 1)); // prettier-ignore
test('the last of ten words is missing → the segments, and where they lack it too, the text', () => {
  const lacking = segment(digits.replace(' ten.', ''), 0, 9);
  expect(readAnswer({ text: digits, words: allButTen, segments: [segment(digits, 0, 10)] }, 10_000)).toMatchObject({
    ...{ timesOf: 'segments', utterances: [[spoken(digits, 0, 10_000)]] },
  });
  expect(readAnswer({ text: digits, words: allButTen, segments: [lacking] }, 10_000)).toMatchObject({
    ...{ timesOf: 'text', utterances: [[spoken(digits, 0, 10_000)]] },
  });
});

test('an empty text beside what was heard → what was heard', () => {
  const [one, two] = [spoken('one.', 0, 1000), spoken('two.', 1000, 2000)];
  const segments = [segment('one.', 0, 1), segment('two.', 1, 2)];
  const words = [word('one.', 0, 1), word('two.', 1, 2)];
  for (const text of ['', ' \n', undefined]) {
    expect(readAnswer({ text, segments, words: [] }, 2000)).toMatchObject({ timesOf: 'segments', utterances: [[one], [two]] }); // prettier-ignore
    expect(readAnswer({ text, segments: [segment(' ', 0, 2)], words }, 2000)).toMatchObject({ timesOf: 'words', utterances: [[one, two]] }); // prettier-ignore
  }
});

test('words with spaces in them → not taken for words', () => {
  const answer = { text: 'in New York', words: [word('in', 0, 1), word('New York', 1, 2)] };
  expect(readAnswer(answer, 2000).timesOf).toBe('text');
});

test('json → one text over the whole chunk, in the language that gpt-transcribe tells', () => {
  const expected = { timesOf: 'text', utterances: [[spoken('Hi there.', 0, 900)]], language: 'de' };
  expect(readAnswer({ text: ' Hi there.\n', languages: [{ code: 'de' }] }, 900)).toEqual(expected);
});

test('times that are negative, backwards, beyond the end → in order, within the audio', () => {
  const words = [word('a', -5, -1), word('b', 0.5, 0.2), word('c', 0.3, 99), word('d', 1e5, 2e5)];
  const read = readAnswer({ text: 'a b c d', words }, 1000).utterances.flat();
  expect(read).toEqual([spoken('a', 0, 0), spoken('b', 0, 150), spoken('c', 300, 1000), spoken('d', 1000, 1000)]);
});

test.each<[string, [unknown, unknown][], number[]]>([
  ['too late, within the audio', [[1, 2], [2, 3], [8, 9], [4, 5], [5, 6]], [1000, 2000, 3000, 4000, 5000]],
  ['missing, of the first', [[undefined, undefined], [2, 3], [3, 4], [4, 5], [5, 6]], [2000, 2000, 3000, 4000, 5000]],
  ['wrong, of two in a row', [[1, 2], [9, 9], [8, 8], [4, 5], [5, 6]], [1000, 2000, 2150, 4000, 5000]],
])('a time that is %s → only that word lies between its neighbours', (_, times, starts) => {
  const words = times.map(([start, end], index) => ({ word: 'abcde'[index], start, end }));
  const { timesOf, utterances } = readAnswer({ text: 'a b c d e', words }, 10_000);
  expect([timesOf, utterances.flat().map(({ startMs }) => startMs)]).toEqual(['words', starts]);
}); // prettier-ignore

test('most words without a time → not believed', () => {
  const words = [word('a', 0, 1), { word: 'b' }, { word: 'c' }];
  expect(readAnswer({ text: 'a b c', words }, 3000).timesOf).toBe('text');
});

test.each([
  ['A: Good morning.\nB: Hello.', 'segments'],
  ['[A]: Good morning. (B) Hello.', 'segments'],
  // Here a word is missing in the segments.
  ['A: Good morning all.\nB: Hello.', 'text'],
])('speakers in the text, %j → the times of %s', (text, timesOf) => {
  const segments = [
    { ...segment('Good morning.', 0, 1), speaker: 'A' },
    { ...segment('Hello.', 1, 2), speaker: 'B' },
  ];
  const { utterances, ...read } = readAnswer({ text, segments }, 2000);
  expect(read.timesOf).toBe(timesOf);
  expect(utterances.flat().map((each) => each.speaker)).toEqual(timesOf === 'segments' ? ['A', 'B'] : [undefined]);
});

test.each([[null], ['<html>'], [[]], [{ text: 7 }], [{ text: { a: 1 }, segments: 'x' }], [{ segments: [null, 3] }]])(
  '%j → RecognizerError, retryable',
  (answer) => {
    const read = () => readAnswer(answer, 1000);
    expect(read).toThrow(RecognizerError);
    expect(read).toThrow('something else than a transcript');
  },
);

/** What a scanner takes longest for: marks that open and never close, and all that may be split in many ways. */
const worst = ['[', '(', '*', '"', '\\"', 'a', ' (', 'a ', 'no ', '1.', '{"a":'].map((part) =>
  part.repeat(Math.ceil(100_000 / part.length)),
);
/** Of an hour, so that its size alone is no reason to refuse it. */
const read = (answer: object) => readAnswer(answer, 3_600_000);
const timed = (text: string) => [...text].slice(0, 50_000).map((letter, at) => word(letter, at / 20, (at + 1) / 20));
test.each<[string, (text: string) => unknown]>([
  ['loopingOf', (text) => loopingOf([{ text }])],
  ['readBody', (text) => readBody(`{"a": NaN, ${text}`, '', 'host')],
  ['readBody of a text', (text) => readBody(`{"a": NaN, "b": "${text}`, '', 'host')],
  ['toLanguageTag', toLanguageTag],
  ['Refusal', (text) => isRefusalOf(new Refusal(400, new Headers(), text), /\b(languages?|response_format)\b/i)],
  ['readAnswer', (text) => read({ text, segments: [segment(text, 0, 3_600)] })],
  ['readAnswer with words', (text) => read({ text, words: timed(text) })],
  ['readAnswer with markers', (text) => read({ text, segments: [segment('[x]', 0, 1), segment(text, 1, 2)] })],
])('%s of 100,000 characters of its worst case → done within seconds', (_, scan) => {
  for (const text of worst) {
    const began = performance.now();
    try {
      scan(text);
    } catch (error) {
      expect(error).toBeInstanceOf(RecognizerError);
    }
    expect([text.slice(0, 9), performance.now() - began < 10_000]).toEqual([text.slice(0, 9), true]);
  }
});

test('an answer that is too large → refused by its length and its numbers, before it is looked at', () => {
  const looked: string[] = [];
  const big = (list: object[]) => list.map((each) => new Proxy(each, { get: (_, name) => (looked.push(String(name)), ''), ownKeys: () => [] })); // prettier-ignore
  const many = new Array<object>(20_000).fill(segment('x', 0, 1));
  for (const answer of [
    { text: 'x'.repeat(40_000) },
    { text: 'x', segments: big(many) },
    { text: 'x', words: big(many) },
  ])
    expect(() => readAnswer(answer, 28_000)).toThrow(/^the server answered more text than anybody could say$/);
  expect(looked).toEqual([]);
});

test.each([
  ['你好,世界。再见', ['你好', '世界', '再见'], ['你好,', '世界。', '再见']],
  ['မင်္ဂလာပါ။', ['မင်္ဂလာ', 'ပါ'], ['မင်္ဂလာ', 'ပါ။']],
  ['It costs $5,000.50 now', ['It', 'costs', '5', '000', '50', 'now'], ['It', 'costs', '$5,000.50', 'now']],
  ['- Yes - no', ['Yes', '-', 'no'], ['- Yes -', 'no']],
  ['in New York now', ['in', 'New York', 'now'], ['in', 'New York', 'now']],
])('%s, heard as %j → %j', (text, words, expected) => {
  const heard = words.map((each, index) => spoken(each, index * 100, index * 100 + 90));
  expect(withPunctuation(heard, text)?.map((each) => each.text)).toEqual(expected);
});

test('words put together → the time of both, the smaller confidence', () => {
  const heard = [
    { ...spoken('e', 0, 90), confidence: 0.9 },
    { ...spoken('mail', 100, 300), confidence: 0.4 },
  ];
  expect(withPunctuation(heard, 'E-mail')).toBeUndefined();
  expect(withPunctuation(heard, 'e-mail!')).toEqual([{ ...spoken('e-mail!', 0, 300), confidence: 0.4 }]);
  expect(withPunctuation([], '♪')).toBeUndefined();
});

describe('segments that nobody said', () => {
  const made = { no_speech_prob: 0.9, avg_logprob: -1.4 };
  const sure = { no_speech_prob: 0.9, avg_logprob: -0.3 };
  const answerOf = (first: object) => ({
    text: 'A sea of water. Good morning.',
    segments: [{ ...segment(' A sea of water.', 0, 10), ...first }, segment(' Good morning.', 10, 12)],
    words: [word('A', 0, 1), word('sea', 1, 2), word('of', 2, 3), word('water', 3, 9), word('Good', 10, 11), word('morning', 11, 12)], // prettier-ignore
  });
  const saidIn = (answer: object) =>
    readAnswer(answer, 12_000)
      .utterances.flat()
      .map(({ text }) => text);

  test("made up by OpenAI's rule → dropped with their words", () => {
    expect(saidIn(answerOf(made))).toEqual(['Good', 'morning.']);
    expect(saidIn({ ...answerOf(made), words: undefined })).toEqual(['Good morning.']);
  });

  test('made up, and the text goes on beyond the segments → its last words stay', () => {
    const answer = { ...answerOf(made), text: 'A sea of water. Good morning. All of you.', words: undefined };
    expect(saidIn(answer).join(' ')).toBe('Good morning. All of you.');
  });

  test('improbable as speech, but with probable words → kept', () => {
    expect(saidIn(answerOf(sure))).toHaveLength(6);
    expect(saidIn(answerOf({ no_speech_prob: 0.1, avg_logprob: -1.4 }))).toHaveLength(6);
  });

  test.each(['', ' \n', '[BLANK_AUDIO]'])('%j → nothing was said', (text) => {
    const nothing = { timesOf: 'nothing', utterances: [], language: undefined };
    expect(readAnswer({ text, language: 'english' }, 12_000)).toEqual(nothing);
    expect(readAnswer({ text, segments: [segment(text, 0, 9)], words: [word(text, 0, 9)] }, 12_000)).toEqual(nothing);
    expect(saidIn({ text: `${text} Yes.`, segments: [segment(text, 0, 9), segment(' Yes.', 9, 10)] })).toEqual([
      'Yes.',
    ]);
  });
});

test.each([
  ['english', 'en'],
  ['Haitian Creole', 'ht'],
  // Not one of Whisper's.
  ['Irish', 'ga'],
  // What Unicode calls otherwise.
  ['bengali', 'bn'],
  ['maori', 'mi'],
  ['myanmar', 'my'],
  ['nynorsk', 'nn'],
  ['tagalog', 'fil'],
  ['EN_us', 'en-US'],
  ['jw', 'jv'],
  ['zh-Hans', 'zh-Hans'],
  ['auto', undefined],
  [7, undefined],
])('language %j → %j', (told, tag) => expect(toLanguageTag(told)).toBe(tag));
