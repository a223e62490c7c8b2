import { once } from 'node:events';
import { createSlots, recognizeInChunks } from '../../../src/recognizers/in-chunks.ts';
import { laterBy } from '../../../src/audio/spans.ts';
import type { ProcessChunk } from '../../../src/recognizers/retry-gaps.ts';
import type { TranscribedChunk } from '../../../src/recognizers/join.ts';
import type { DecodedAudio } from '../../../src/recognizers/recognizer.ts';
import { isOnlyMarkers } from '../../../src/recognizers/transcript-gaps.ts';

/** Nobody pauses in it: six chunks of 10 s. */
const audio: DecodedAudio = { file: 'unread', durationMs: 60_000, silences: [] };
const lengths = { longestMs: 10_000, overlapMs: 500 };
const goesOn = new AbortController().signal;

type RecognizeChunk = ProcessChunk<TranscribedChunk>;
/** One word in the middle of each chunk, with its number. */
const heardWord: RecognizeChunk = async (chunk) => {
  const text = String(chunk.startMs / 10_000);
  return { chunk, utterances: [[laterBy(chunk.windowStartMs, { text, startMs: 5000, endMs: 5500 })]] };
};
const textsOf = (utterances: { text: string }[][]) => utterances.flat().map(({ text }) => text);

test('as many chunks at once as there are slots, over all recordings; a short one does not wait for a long one', async () => {
  const slots = createSlots(2);
  const order: string[] = [];
  let [running, most] = [0, 0];
  const counting =
    (name: string): RecognizeChunk =>
    async (chunk, signal) => {
      order.push(name);
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return heardWord(chunk, signal);
    };
  const short = { ...audio, durationMs: 9_000 };
  await Promise.all([
    recognizeInChunks(audio, lengths, slots, counting('long'), { signal: goesOn }),
    recognizeInChunks(short, lengths, slots, counting('short'), { signal: goesOn }),
  ]);
  expect(most).toBe(2);
  expect(order.indexOf('short')).toBeLessThanOrEqual(3);
});

test('one chunk fails → the others are stopped, no further one begins, and its error is thrown', async () => {
  const chunks = { begun: 0, stopped: 0 };
  const allBegun = Promise.withResolvers<void>();
  const failure = new Error('the recognizer crashed');
  const failing: RecognizeChunk = async (chunk, signal) => {
    if (chunk.startMs !== 0) {
      chunks.begun += 1;
      if (chunks.begun === 2) allBegun.resolve();
      await once(signal, 'abort');
      chunks.stopped += 1;
      throw signal.reason;
    }
    await allBegun.promise;
    throw failure;
  };
  const running = recognizeInChunks(audio, lengths, createSlots(3), failing, { signal: goesOn });
  await expect(running).rejects.toBe(failure);
  expect(chunks).toEqual({ begun: 2, stopped: 2 });
});

test('aborted while another recording holds all slots → ends without waiting for one', async () => {
  const slots = createSlots(1);
  const others = new AbortController();
  const hung = Promise.withResolvers<void>();
  const hanging: RecognizeChunk = async (_, signal) => {
    hung.resolve();
    await once(signal, 'abort');
    throw signal.reason;
  };
  const other = recognizeInChunks(audio, lengths, slots, hanging, { signal: others.signal });
  await hung.promise;
  const begun: number[] = [];
  const counting: RecognizeChunk = (chunk, signal) => {
    begun.push(chunk.startMs);
    return heardWord(chunk, signal);
  };
  const controller = new AbortController();
  const waiting = recognizeInChunks(audio, lengths, slots, counting, { signal: controller.signal });
  const reason = new Error('the service is stopping');
  controller.abort(reason);
  await expect(waiting).rejects.toBe(reason);

  others.abort(new Error('over'));
  await expect(other).rejects.toThrow('over');
  const last = recognizeInChunks(audio, lengths, slots, heardWord, { signal: goesOn });
  expect(textsOf(await last)).toEqual(['0', '1', '2', '3', '4', '5']);
  expect(begun).toEqual([]);
});

test.each([
  ['[BLANK_AUDIO]', true],
  [' [Music] (crickets chirping)', true],
  ['♪♪ *sighs* …', true],
  ['（音楽）', true],
  ['(laughs) Yes.', false],
  ['3', false],
])('%s is or is not only about sounds', (text, expected) => {
  expect(isOnlyMarkers(text)).toBe(expected);
});
