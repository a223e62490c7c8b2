/** What a recognizer failed to hear is heard again, in halves. */
import { hearAgain } from '../../../src/recognizers/hear-again.ts';
import { isLoop } from '../../../src/recognizers/loops.ts';
import { LanguageNotKnown, PieceNotHeard } from '../../../src/recognizers/recognizer.ts';
import type { Piece, Span } from '../../../src/audio/pieces.ts';
import type { UncertainStretch } from '../../../src/recognizers/recognizer.ts';

const { signal } = new AbortController();
const loop = 'in the e-poch of the e-poch of '.repeat(12);
const sentence = 'It was the best of times, it was the worst of times.';

interface Recording {
  durationMs: number;
  silences?: Span[];
  speech?: Span[];
  mayLoop?: boolean;
}

/** Hears a recording as one piece. @param say what is heard in a piece, by where it begins and how long it is */
async function heard(say: (startMs: number, lengthMs: number) => string, recording: Recording) {
  const { durationMs, silences = [], speech = [{ startMs: 0, endMs: durationMs }], mayLoop = true } = recording;
  const asked: [number, number][] = [];
  const told: UncertainStretch[] = [];
  const hear = async ({ startMs, endMs }: Piece) => {
    asked.push([startMs, endMs]);
    return say(startMs, endMs - startMs);
  };
  const audio = { file: '', durationMs, silences, speech };
  const judging = { audio, overlapMs: 0, textOf: (text: string) => text, mayLoop };
  const whole = { startMs: 0, endMs: durationMs, heardFromMs: 0, heardToMs: durationMs };
  const parts = await hearAgain(hear, judging, (stretch) => told.push(stretch))(whole, signal, () => {});
  return { asked, told, texts: parts.map(({ piece, result }) => [piece.startMs, piece.endMs, result]) };
}

const failsBeyond = (mostMs: number) => (_: number, lengthMs: number) => {
  if (lengthMs > mostMs) throw new PieceNotHeard('it is too long');
  return sentence;
};

test('a text → heard once', async () => {
  expect(await heard(() => sentence, { durationMs: 28_000 })).toEqual({
    ...{ asked: [[0, 28_000]], told: [], texts: [[0, 28_000, sentence]] },
  });
});

test('a voice and no word in a whole piece → its halves, cut in the longest silence of the middle', async () => {
  const silences = [
    { startMs: 2_000, endMs: 4_000 },
    { startMs: 11_000, endMs: 12_000 },
  ];
  const { told, texts } = await heard((_, ms) => (ms > 20_000 ? '' : sentence), { durationMs: 28_000, silences });
  expect(texts).toEqual([
    [0, 11_500, sentence],
    [11_500, 28_000, sentence],
  ]);
  expect(told).toEqual([]);
});

test('no word, and less than a second of a voice → that is all', async () => {
  const nearly = [{ startMs: 3_000, endMs: 3_900 }];
  expect(await heard(() => '', { durationMs: 28_000, speech: nearly })).toMatchObject({
    ...{ asked: [[0, 28_000]], told: [], texts: [[0, 28_000, '']] },
  });
});

test('a voice that never gives words → the stretches where it is are told, and it completes', async () => {
  const singing = [{ startMs: 0, endMs: 7_000 }];
  const { asked, told } = await heard(() => '', { durationMs: 28_000, speech: singing });
  expect(asked).toEqual([[0, 28_000], [0, 14_000], [0, 7_000], [7_000, 14_000], [14_000, 28_000]]); // prettier-ignore
  expect(told).toEqual([{ startMs: 0, endMs: 7_000, why: 'no words' }]);
});

test('the recognizer fails at long pieces → quarters are heard; at all pieces → its error', async () => {
  expect((await heard(failsBeyond(9_300), { durationMs: 28_000 })).texts).toHaveLength(4);
  await expect(heard(failsBeyond(1_000), { durationMs: 28_000 })).rejects.toThrow('it is too long');
});

test('another error → at once', async () => {
  const refuse = () => {
    throw new LanguageNotKnown('ru', ['en']);
  };
  await expect(heard(refuse, { durationMs: 28_000 })).rejects.toThrow('does not know the language ru');
});

test('a piece of less than 2 s without a word → heard again whole', async () => {
  expect((await heard(() => '', { durationMs: 1_500 })).asked).toEqual(new Array(3).fill([0, 1_500]));
});

test('a loop → its halves; what still loops is left out and told', async () => {
  const { texts, told } = await heard((startMs) => (startMs === 0 ? loop : sentence), { durationMs: 28_000 });
  expect(texts).toEqual([
    [7_000, 14_000, sentence],
    [14_000, 28_000, sentence],
  ]);
  expect(told).toEqual([{ startMs: 0, endMs: 7_000, why: 'a loop' }]);
});

test('a recognizer that hears word by word → what it says again and again was said', async () => {
  expect((await heard(() => loop, { durationMs: 28_000, mayLoop: false })).asked).toHaveLength(1);
});

/** The first is Dickens as Moonshine tiny hears it: of all texts that were tried the one that repeats itself most. */
const dickens =
  'It was the best of times. It was the worst of times. It was the age of wisdom. It was the age of foolishness. ' +
  'It was the epoch of belief. It was the epoch of incredulity. It was a season of light. It was a season of darkness. ' +
  'It was the spring of hope. It was the winter of despair.';
test.each<[string, string, boolean]>([
  ['Dickens', dickens, false],
  ['a few times the same', 'No, no, no, no, no!', false],
  ['a loop', loop, true],
  ['one word', 'news '.repeat(40), true],
  ['a loop after half a minute of speech', `${dickens.replaceAll('.', ',')} ${loop}`, true],
])('%s is or is no loop', (_, text, loops) => {
  expect(isLoop(text)).toBe(loops);
});
