/** What every recognizer must do with speech, of which real voices have the most to say. */
import { wordErrorRate } from '../../../support/uploads/audio-fixtures.ts';
import { expectWellFormed, humanSpeech } from './conformance.ts';
import { partsFor } from './parts.ts';
import type { Recognizer } from '../../../../src/recognizers/recognizer.ts';
import type { Speech } from './conformance.ts';

export function speechConformance(name: string, make: () => Recognizer, speech: Speech = humanSpeech): void {
  describe(`${name}: speech`, () => {
    const parts = partsFor(make);
    const { signal } = new AbortController();

    test('several utterances → well-formed, words heard, progress in rising whole percents below 100', async () => {
      const audio = await parts.recordings.ofClips(await speech.clips());
      const percents: number[] = [];
      const transcript = await parts.recognizer.recognize(audio, {
        signal,
        onProgress: (percent) => percents.push(percent),
      });
      expectWellFormed(transcript, audio.durationMs);
      const reference = (await speech.clips()).map((clip) => clip.text).join(' ');
      const heard = transcript.segments.map((segment) => segment.text).join(' ');
      expect(wordErrorRate(reference, heard)).toBeLessThanOrEqual(speech.errorRate);
      expect(percents).toEqual([...new Set(percents)].sort((a, b) => a - b));
      for (const percent of percents) {
        expect(Number.isInteger(percent) && percent >= 0 && percent < 100).toBe(true);
      }
    });

    test.each([
      ['German', 'de', 'Guten Morgen, meine Damen und Herren. Wir beginnen heute etwas später als sonst.'],
      ['Mandarin', 'cmn', '大家早上好。今天的会议比平时晚一点开始。'],
    ])('%s → no crash, a well-formed transcript', async (_, voice, text) => {
      const audio = await parts.recordings.spoken(voice, text);
      expect(audio.durationMs).toBeGreaterThan(2_000);
      expectWellFormed(await parts.recognizer.recognize(audio, { signal }), audio.durationMs);
    });
  });
}
