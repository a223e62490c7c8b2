/** What a recognizer failed to hear is heard again, in halves. */
import { retryGaps } from '../../../src/recognizers/retry-gaps.ts';
import { loopingOf } from '../../../src/recognizers/transcript-gaps.ts';
import { LanguageNotKnown, ChunkNotTranscribed, ChunkRefused } from '../../../src/recognizers/recognizer.ts';
import type { Chunk, Span } from '../../../src/audio/chunks.ts';
import type { Word } from '../../../src/captions/segment.ts';
import type { UncertainStretch } from '../../../src/recognizers/recognizer.ts';

const { signal } = new AbortController();
const loop = 'in the e-poch of the e-poch of '.repeat(12);
/** Dickens as Moonshine tiny hears it: of all texts that were tried the one that repeats itself most. */
const dickens =
  'It was the best of times. It was the worst of times. It was the age of wisdom. It was the age of foolishness. ' +
  'It was the epoch of belief. It was the epoch of incredulity. It was a season of light. It was a season of darkness. ' +
  'It was the spring of hope. It was the winter of despair.';

interface Recording {
  durationMs: number;
  silences?: Span[];
  speech?: Span[];
  mayLoop?: boolean;
}

/** Hears a recording as one chunk. @param say what is heard in a chunk, by where it begins and how long it is */
async function heard(say: (startMs: number, lengthMs: number) => string | readonly Word[], recording: Recording) {
  const { durationMs, silences = [], speech = [{ startMs: 0, endMs: durationMs }], mayLoop = true } = recording;
  const asked: [number, number][] = [];
  const told: UncertainStretch[] = [];
  const hear = async (chunk: Chunk) => {
    const { startMs, endMs } = chunk;
    asked.push([startMs, endMs]);
    const text = say(startMs, endMs - startMs);
    const words = typeof text === 'string' ? [{ text, startMs, endMs }].filter((word) => word.text !== '') : text;
    return { chunk, utterances: [words] };
  };
  const checks = { audio: { file: '', durationMs, silences, speech }, overlapMs: 0, mayLoop };
  const whole = { startMs: 0, endMs: durationMs, windowStartMs: 0, windowEndMs: durationMs };
  const parts = await retryGaps(hear, checks, (stretch) => told.push(stretch))(whole, signal);
  const words = parts.flatMap(({ utterances }) => utterances.flat());
  return { asked, told, texts: words.map((word) => [word.startMs, word.endMs, word.text]) };
}

const failsBeyond = (mostMs: number) => (_: number, lengthMs: number) => {
  if (lengthMs > mostMs) throw new ChunkNotTranscribed('it is too long');
  return dickens;
};

test('a voice and no word in a whole chunk → its halves, cut in the longest silence of the middle', async () => {
  const silences = [
    { startMs: 2_000, endMs: 4_000 },
    { startMs: 11_000, endMs: 12_000 },
  ];
  const { told, texts } = await heard((_, ms) => (ms > 20_000 ? '' : dickens), { durationMs: 28_000, silences });
  expect(texts).toEqual([
    [0, 11_500, dickens],
    [11_500, 28_000, dickens],
  ]);
  expect(told).toEqual([]);
});

describe('fewer words than there is a voice', () => {
  const fewWords = 'You might even have been made indiable himself.';
  const recording = { durationMs: 16_000, speech: [{ startMs: 1_000, endMs: 15_000 }] };

  test('→ halves, as Whisper base stretches a sentence over a speech that it skips', async () => {
    const { texts, told } = await heard((_, ms) => (ms === 16_000 ? fewWords : dickens), recording);
    expect(texts).toEqual([
      [0, 8_000, dickens],
      [8_000, 16_000, dickens],
    ]);
    expect(told).toEqual([]);
  });

  test('and no more words when it is heard again → they stay, and it is told', async () => {
    const { texts, told } = await heard((_, ms) => (ms === 16_000 ? fewWords : ''), recording);
    expect(texts).toEqual([[0, 16_000, fewWords]]);
    expect(told.map(({ why }) => why)).toEqual(['no words', 'no words', 'no words', 'no words']);
  });

  test.each(['0049 40 123456789', '四月的巴黎很美丽，我们都很高兴。'])(
    '%s takes long to say → heard once',
    async (text) => {
      expect((await heard(() => text, { durationMs: 8_000 })).asked).toHaveLength(1);
    },
  );
});

test('no word, and less than a second of a voice → that is all', async () => {
  const nearly = [{ startMs: 3_000, endMs: 3_900 }];
  expect(await heard(() => '', { durationMs: 28_000, speech: nearly })).toMatchObject({
    ...{ asked: [[0, 28_000]], told: [], texts: [] },
  });
});

test('a voice that never gives words → the stretches where it is are told, and it completes', async () => {
  const singing = [{ startMs: 0, endMs: 7_000 }];
  const { asked, told } = await heard(() => '', { durationMs: 28_000, speech: singing });
  expect(asked).toEqual([[0, 28_000], [0, 7_500], [0, 3_750], [3_750, 7_500]]); // prettier-ignore
  expect(told).toEqual([
    { startMs: 0, endMs: 3_750, why: 'no words' },
    { startMs: 3_750, endMs: 7_500, why: 'no words' },
  ]);
});

test('the recognizer fails at long chunks → quarters are heard; at all chunks → its error', async () => {
  expect((await heard(failsBeyond(9_300), { durationMs: 28_000 })).texts).toHaveLength(4);
  await expect(heard(failsBeyond(1_000), { durationMs: 28_000 })).rejects.toThrow('it is too long');
});

test('a server that refuses a chunk → its error; one that refuses to hear a stretch again → no words there', async () => {
  const refuse = (startMs: number, lengthMs: number) => {
    if (lengthMs <= 10_000) throw new ChunkRefused('No clip timestamps found');
    return startMs === 0 && lengthMs === 28_000 ? '' : dickens;
  };
  const { told, texts } = await heard(refuse, { durationMs: 28_000, silences: [{ startMs: 9_000, endMs: 10_000 }] });
  expect(told).toEqual([{ startMs: 0, endMs: 9_500, why: 'no words' }]);
  expect(texts).toEqual([[9_500, 28_000, dickens]]);
  await expect(heard(refuse, { durationMs: 9_000 })).rejects.toBeInstanceOf(ChunkRefused);
});

test('another error → at once', async () => {
  const refuse = () => {
    throw new LanguageNotKnown('ru', ['en']);
  };
  await expect(heard(refuse, { durationMs: 28_000 })).rejects.toThrow('does not know the language ru');
});

test('a loop → its halves; what still loops is left out and told', async () => {
  const { texts, told } = await heard((startMs) => (startMs === 0 ? loop : dickens), { durationMs: 28_000 });
  expect(texts).toEqual([
    [7_000, 14_000, dickens],
    [14_000, 28_000, dickens],
  ]);
  expect(told).toEqual([{ startMs: 0, endMs: 7_000, why: 'a loop' }]);
});

const spoken = (text: string, fromMs: number, everyMs: number): Word[] =>
  text.split(' ').map((word, index) => ({
    ...{ text: word, startMs: fromMs + index * everyMs, endMs: fromMs + index * everyMs + everyMs / 2 },
  }));
/** A sentence of ten words a second apart. */
const sentenceAt = (fromMs: number, word = 'so') =>
  spoken([0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => `${word}${number}`).join(' '), fromMs, 1_000);

describe('words with times', () => {
  const recording = { durationMs: 60_000 };
  const between = (startMs: number) =>
    startMs === 0 ? [...sentenceAt(0), ...sentenceAt(40_000, 'then')] : sentenceAt(20_000, 'but');

  test('a voice and no word between two words → that stretch is heard once more, and put there', async () => {
    const speech = [{ startMs: 0, endMs: 10_000 }, { startMs: 19_000, endMs: 30_000 }, { startMs: 40_000, endMs: 50_000 }]; // prettier-ignore
    const { asked, told, texts } = await heard(between, { ...recording, speech });
    expect(asked).toEqual([[0, 60_000], [18_500, 30_500]]); // prettier-ignore
    expect(texts.map(([, , text]) => text)).toEqual([...sentenceAt(0), ...sentenceAt(0, 'but'), ...sentenceAt(0, 'then')].map(({ text }) => text)); // prettier-ignore
    expect(told).toEqual([]);
  });

  test('a voice and no word after the last one → that stretch is heard once more', async () => {
    const { asked, texts } = await heard((startMs) => sentenceAt(startMs), { ...recording, durationMs: 20_000 });
    expect(asked).toEqual([[0, 20_000], [9_500, 20_000]]); // prettier-ignore
    expect(texts).toHaveLength(20);
  });

  test('a pause, or a voice without a word that is shorter than most words → nothing', async () => {
    const speech = [{ startMs: 0, endMs: 10_000 }, { startMs: 25_000, endMs: 25_900 }, { startMs: 40_000, endMs: 50_000 }]; // prettier-ignore
    expect((await heard(between, { ...recording, speech })).asked).toHaveLength(1);
  });

  test('what stays without a word → told with its times, and the words around it are kept', async () => {
    const speech = [{ startMs: 0, endMs: 10_000 }, { startMs: 20_000, endMs: 24_000 }, { startMs: 40_000, endMs: 50_000 }]; // prettier-ignore
    const { asked, told, texts } = await heard((startMs) => (startMs === 0 ? between(0) : []), {
      ...recording,
      speech,
    });
    expect(asked).toEqual([[0, 60_000], [19_500, 24_500], [19_500, 22_000], [22_000, 24_500]]); // prettier-ignore
    expect(told.map(({ startMs, endMs }) => [startMs, endMs])).toEqual([[19_500, 22_000], [22_000, 24_500]]); // prettier-ignore
    expect(texts).toHaveLength(20);
  });

  test('a loop between them → its stretch is heard once more, and the words around it are kept', async () => {
    const half = dickens.length / 2;
    const before = spoken(dickens.slice(0, half), 0, 300);
    const after = spoken(dickens.slice(half), 40_000, 300);
    const news = spoken(`${'news '.repeat(99)}news`, 20_000, 120);
    const speech = [{ startMs: 0, endMs: 10_000 }, { startMs: 20_000, endMs: 32_000 }, { startMs: 40_000, endMs: 50_000 }]; // prettier-ignore
    const again = spoken(dickens, 20_000, 1_000);
    const say = (startMs: number) => (startMs === 0 ? [...before, ...news, ...after] : again);
    const { asked, texts } = await heard(say, { ...recording, speech });
    expect(asked).toHaveLength(2);
    expect(texts.map(([, , text]) => text).join(' ')).toContain(`${dickens} `);
    expect(texts.filter(([, , text]) => text === 'news')).toEqual([]);
  });
});

test('a recognizer that hears word by word → what it says again and again was said', async () => {
  expect((await heard(() => loop, { durationMs: 28_000, mayLoop: false })).asked).toHaveLength(1);
});

const dickensWithCommas =
  'It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness, ' +
  'it was the epoch of belief, it was the epoch of incredulity, it was the season of light, it was the season of ' +
  'darkness, it was the spring of hope, it was the winter of despair, we had everything before us, we had nothing ' +
  'before us, we were all going direct to heaven, we were all going direct the other way.';
const nearlyTheSame = ['pot', 'oven', 'bowl', 'pot', 'oven', 'bowl', 'pot', 'oven', 'bowl', 'pot', 'oven', 'bowl']
  .map((where, index) => `I'm going to put ${['it', 'this', 'that one', 'them'][index % 4]!} in the ${where}.`)
  .join(' ');
test.each<[string, string, boolean]>([
  ['Dickens', dickens, false],
  // So faster-whisper writes it, and it heard it three times: zlib makes a 2.5th of it.
  ['Dickens with commas and with what follows', dickensWithCommas, false],
  ['nearly the same', nearlyTheSame, true],
  ['a loop', loop, true],
  ['a loop after half a minute of speech', `${dickens.replaceAll('.', ',')} ${loop}`, true],
])('%s is or is no loop', (_, text, loops) => {
  expect(loopingOf([{ text }]).length > 0).toBe(loops);
});
