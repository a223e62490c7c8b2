/** What every recognizer does that hears more of a recording than its chunk: no word is lost or doubled at a cut. */
import { expectWellFormed, humanSpeech } from './conformance.ts';
import { partsFor } from './parts.ts';
import type { Word } from '../../../../src/captions/segment.ts';
import type { DecodedAudio, Recognizer } from '../../../../src/recognizers/recognizer.ts';
import type { Speech } from './conformance.ts';

/** @param chunkMs how long chunks are where nobody pauses, in recordings of two and of four times that */
export function cutConformance(
  name: string,
  make: () => Recognizer,
  chunkMs: number,
  speech: Speech = humanSpeech,
): void {
  describe(`${name}: cuts between chunks`, () => {
    const parts = partsFor(make);

    /** Without silences to cut at, the cuts lie where `chunkMs` says. */
    const wordsOf = async (audio: DecodedAudio, onProgress?: (percent: number) => void): Promise<Word[]> => {
      const { signal } = new AbortController();
      const transcript = await parts.recognizer.recognize(
        { ...audio, silences: [] },
        { signal, ...(onProgress && { onProgress }) },
      );
      expectWellFormed(transcript, audio.durationMs);
      return transcript.segments.flatMap(({ words }) => words);
    };
    const lastClip = async () => (await speech.clips()).at(-1)!;
    const textOf = (words: readonly Word[]) => words.map(({ text }) => text).join(' ');
    let uncut: Promise<Word[]> | undefined;
    /** As they are heard without a cut, up to a second behind it: what comes later, no cut can change. */
    const wordsAround = async (cutMs: number) => {
      uncut ??= lastClip().then(async ({ file }) => wordsOf(await parts.recordings.made('-i', file)));
      return (await uncut).filter(({ startMs }) => startMs < cutMs + 1_000);
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
      const around = await wordsAround(cutMs);
      const cut = await wordsOf(await parts.recordings.at([chunkMs - cutMs], await lastClip(), 2 * chunkMs));
      expectAtCut(cut, around, chunkMs);
    });

    test('a word in the middle of every cut → each of them once, progress in rising whole percents below 100', async () => {
      const cutMs = (speech.word.from + speech.word.length / 2) * 1000;
      const around = await wordsAround(cutMs);
      const starts = [1, 2, 3].map((chunk) => chunk * chunkMs - cutMs);
      const percents: number[] = [];
      const audio = await parts.recordings.at(starts, await lastClip(), 4 * chunkMs);
      const words = await wordsOf(audio, (percent) => percents.push(percent));
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
