import type { DecodedAudio, RecognizeOptions, Recognizer, Transcript } from '../../../../src/recognizers/recognizer.ts';
import { noise, silence, speechClips } from '../../../support/uploads/audio-fixtures.ts';
import { partsFor } from './parts.ts';

/** What a recognizer is able to hear. */
export interface Speech {
  /** Stretches of speech, with what is said in each. */
  clips: () => Promise<{ file: string; text: string }[]>;
  /** The largest word error rate over all of them. */
  errorRate: number;
  /** Where in the last clip a word is said, in seconds. */
  word: { from: number; length: number };
}

export const humanSpeech: Speech = { clips: speechClips, errorRate: 0.5, word: { from: 0.6, length: 0.35 } };

/**
 * What every recognizer must do, whatever model it has; see also `speechConformance`. `make` gives a recognizer that can run
 * on this machine.
 */
export function recognizerConformance(name: string, make: () => Recognizer, speech: Speech = humanSpeech): void {
  describe(`${name}: what every recognizer does`, () => {
    const parts = partsFor(make);

    const made = (...args: string[]) => parts.recordings.made(...args);
    const recognize = (audio: DecodedAudio, options: Partial<RecognizeOptions> = {}): Promise<Transcript> =>
      parts.recognizer.recognize(audio, { signal: new AbortController().signal, ...options });

    test('a machine that has what it needs → check passes', () => parts.recognizer.check());

    test('silence → no segments', async () => {
      expect((await recognize(await made(...silence(3)))).segments).toEqual([]);
    });

    test.each<[string, (clip: string) => string[]]>([
      ['noise', () => noise(3)],
      ['50 ms of a voice', (clip) => ['-ss', '0.5', '-t', '0.05', '-i', clip]],
      ['speech cut inside a word', (clip) => ['-t', '0.8', '-i', clip]],
    ])('%s → no crash, a well-formed transcript', async (_, args) => {
      const audio = await made(...args((await speech.clips()).at(-1)!.file));
      expectWellFormed(await recognize(audio), audio.durationMs);
    });

    test('one word of a voice → at most a few words', async () => {
      const clip = (await speech.clips()).at(-1)!;
      const audio = await made(
        '-ss',
        `${speech.word.from}`,
        '-t',
        `${speech.word.length}`,
        '-i',
        clip.file,
        '-af',
        'adelay=500,apad=pad_dur=0.5',
      );
      const transcript = await recognize(audio);
      expectWellFormed(transcript, audio.durationMs);
      expect(transcript.segments.flatMap((segment) => segment.words).length).toBeLessThanOrEqual(3);
    });

    test('speech after 5 s of silence → times 5 s later, nothing before', async () => {
      const clip = (await speech.clips()).at(-1)!;
      const plain = await recognize(await made('-i', clip.file));
      const audio = await made('-i', clip.file, '-af', 'adelay=5000');
      const shifted = await recognize(audio);
      expectWellFormed(shifted, audio.durationMs);
      const startOf = (transcript: Transcript): number => transcript.segments[0]!.startMs;
      expect(Math.abs(startOf(shifted) - startOf(plain) - 5000)).toBeLessThanOrEqual(150);
    });

    test('aborted in the middle → rejects with the reason before the end, and nothing goes on', async () => {
      const clip = (await speech.clips()).at(-1)!;
      // So long that none hears it in one chunk.
      const audio = await parts.recordings.at([0, 130_000, 260_000, 390_000], clip, 480_000);
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
