import { speakTones } from '../../../support/models/tiny/spoken-tones.ts';
import { noise, silence } from '../../../support/uploads/audio-fixtures.ts';
import { makeRecordings } from './recordings.ts';
import type { Word } from '../../../../src/captions/segment.ts';
import type { DecodedAudio, RecognizeOptions, Recognizer, Transcript } from '../../../../src/recognizers/recognizer.ts';

/** What a recognizer is able to hear. */
interface Speech {
  /** Some seconds of speech. */
  file: string;
  /** Where a word is said in it, in seconds. */
  word: { from: number; length: number };
}

/** What a tiny model hears as speech, without a fault. */
export async function toneSpeech(folder: string): Promise<Speech> {
  return { ...(await speakTones(folder, 'clip', ['low'])), word: { from: 0.2, length: 0.6 } };
}

/**
 * What every recognizer must do, whatever model it has.
 * @param make gives a recognizer that can run on this machine
 * @param chunkMs how long its chunks are where nobody pauses, if it hears more of a recording than its chunk: then no word
 *   is lost or doubled at a cut
 */
export function recognizerConformance(name: string, make: () => Recognizer, speech: Speech, chunkMs?: number): void {
  describe(`${name}: what every recognizer does`, () => {
    const { made, at } = makeRecordings();
    let recognizer: Recognizer;
    beforeAll(() => void (recognizer = make()));
    afterAll(() => recognizer.close());
    const recognize = (audio: DecodedAudio, options: Partial<RecognizeOptions> = {}): Promise<Transcript> =>
      recognizer.recognize(audio, { signal: new AbortController().signal, ...options });

    test('a machine that has what it needs → check passes', () => recognizer.check());

    test('silence → no segments', async () => {
      expect((await recognize(await made(...silence(3)))).segments).toEqual([]);
    });

    test.each([
      ['noise', noise(3)],
      ['50 ms of a voice', ['-ss', '0.5', '-t', '0.05', '-i', speech.file]],
    ])('%s → no crash, a well-formed transcript', async (_, args) => {
      const audio = await made(...args);
      expectWellFormed(await recognize(audio), audio.durationMs);
    });

    test('one word of a voice → at most a few words', async () => {
      const { from, length } = speech.word;
      const padded = ['-af', 'adelay=500,apad=pad_dur=0.5'];
      const audio = await made('-ss', `${from}`, '-t', `${length}`, '-i', speech.file, ...padded);
      const transcript = await recognize(audio);
      expectWellFormed(transcript, audio.durationMs);
      expect(transcript.segments.flatMap((segment) => segment.words).length).toBeLessThanOrEqual(3);
    });

    test('speech after 5 s of silence → times 5 s later, nothing before', async () => {
      const plain = await recognize(await made('-i', speech.file));
      const audio = await made('-i', speech.file, '-af', 'adelay=5000');
      const shifted = await recognize(audio);
      expectWellFormed(shifted, audio.durationMs);
      const startOf = (transcript: Transcript): number => transcript.segments[0]!.startMs;
      expect(Math.abs(startOf(shifted) - startOf(plain) - 5000)).toBeLessThanOrEqual(150);
    });

    test('aborted in the middle → rejects with the reason before the end, and nothing goes on', async () => {
      // So long that none hears it in one chunk.
      const audio = await at([0, 130_000, 260_000, 390_000], speech, 480_000);
      const controller = new AbortController();
      const reason = new Error('the service is stopping');
      const reported: number[] = [];
      const running = recognize(audio, {
        signal: controller.signal,
        onProgress: (percent) => {
          reported.push(percent);
          controller.abort(reason);
        },
      });
      await expect(running).rejects.toBe(reason);
      const before = [...reported];
      expect(before.at(-1)).toBeLessThan(99);
      // Time enough for whatever went on.
      await recognize(await made(...silence(1)));
      expect(reported).toEqual(before);
    });

    test('aborted before → rejects with the reason', async () => {
      const signal = AbortSignal.abort(new Error('too late'));
      await expect(recognize(await made(...silence(1)), { signal })).rejects.toThrow('too late');
    });

    if (chunkMs === undefined) return;

    /** Without silences to cut at, the cuts lie where `chunkMs` says. */
    const wordsOf = async (audio: DecodedAudio, options?: Partial<RecognizeOptions>): Promise<Word[]> => {
      const transcript = await recognize({ ...audio, silences: [] }, options);
      expectWellFormed(transcript, audio.durationMs);
      return transcript.segments.flatMap(({ words }) => words);
    };
    const textOf = (words: readonly Word[]) => words.map(({ text }) => text).join(' ');
    /** As they are heard without a cut, up to a second behind it: what comes later, no cut can change. */
    const wordsAround = async (cutMs: number) => {
      const uncut = await wordsOf(await made('-i', speech.file));
      return uncut.filter(({ startMs }) => startMs < cutMs + 1_000);
    };
    /** @param words from the beginning of a clip, with times from the beginning of the recording */
    const expectAtCut = (words: readonly Word[], around: readonly Word[], cutMs: number) => {
      expect(around.length).toBeGreaterThan(0);
      expect(textOf(words.slice(0, around.length))).toBe(textOf(around));
      // Nothing of them is heard again; times may be a little off.
      expect(words[around.length]?.startMs ?? Infinity).toBeGreaterThan(cutMs + 800);
    };

    test.each([0.2, 0.5, 0.8])('a cut at %s of a word → the same words as without it', async (part) => {
      const cutMs = (speech.word.from + part * speech.word.length) * 1000;
      const cut = await wordsOf(await at([chunkMs - cutMs], speech, 2 * chunkMs));
      expectAtCut(cut, await wordsAround(cutMs), chunkMs);
    });

    test('a word in the middle of every cut → each of them once, progress in rising whole percents below 100', async () => {
      const cutMs = (speech.word.from + speech.word.length / 2) * 1000;
      const around = await wordsAround(cutMs);
      const starts = [1, 2, 3].map((chunk) => chunk * chunkMs - cutMs);
      const percents: number[] = [];
      const audio = await at(starts, speech, 4 * chunkMs);
      const words = await wordsOf(audio, { onProgress: (percent) => percents.push(percent) });
      for (const start of starts) {
        const ofClip = words.filter(({ startMs }) => startMs >= start && startMs < start + chunkMs);
        expectAtCut(ofClip, around, start + cutMs);
      }
      expect(percents.length).toBeGreaterThanOrEqual(2);
      expect(percents).toEqual([...new Set(percents)].sort((a, b) => a - b));
      for (const percent of percents) expect(Number.isInteger(percent) && percent >= 0 && percent < 100).toBe(true);
    });
  });
}

/** The rules of the contract for segments and the words in them. */
export function expectWellFormed({ segments }: Transcript, durationMs: number): void {
  const times: number[] = [0];
  segments.forEach((segment, position) => {
    expect(segment.index).toBe(position);
    expect(segment.text).toBe(segment.text.trim());
    expect(segment.text).not.toBe('');
    if (segment.confidence !== undefined) expectFraction(segment.confidence);
    if (segment.speaker !== undefined) expect(segment.speaker).toMatch(/^S[1-9]\d*$/);
    times.push(segment.startMs);
    for (const word of segment.words) {
      expect(word.text).toMatch(/^\S+$/);
      if (word.confidence !== undefined) expectFraction(word.confidence);
      times.push(word.startMs, word.endMs);
    }
    times.push(segment.endMs);
  });
  times.push(durationMs);
  for (const time of times) expect(Number.isInteger(time)).toBe(true);
  expect(times).toEqual([...times].sort((a, b) => a - b));
}

function expectFraction(value: number): void {
  expect(value).toBeGreaterThanOrEqual(0);
  expect(value).toBeLessThanOrEqual(1);
}
