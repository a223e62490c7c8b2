/** What every recognizer with processes of its own does when they are killed. */
import { cpuOfTree } from '../../../../scripts/bench/process-tree.ts';
import { until } from '../../../support/until.ts';
import { expectWellFormed, humanSpeech } from './conformance.ts';
import { partsFor } from './parts.ts';
import type { Recognizer } from '../../../../src/recognizers/recognizer.ts';
import type { Speech } from './conformance.ts';

/** By then it has begun, and is far from its end. */
const workedMs = 50;

/** @param children the pids of the recognizer's processes below this one */
export function crashConformance(
  name: string,
  make: () => Recognizer,
  children: () => number[],
  speech: Speech = humanSpeech,
): void {
  describe(`${name}: crashes`, () => {
    const parts = partsFor(make);
    const { signal } = new AbortController();

    test('killed in the middle → RecognizerError, retryable, nothing goes on; the next one is recognized', async () => {
      const clips = await speech.clips();
      const audio = await parts.recordings.ofClips([...clips, ...clips, ...clips, ...clips]);
      for (let times = 0; times < 2; times += 1) {
        const running = parts.recognizer.recognize(audio, { signal });
        running.catch(() => {});
        await until(() => children().some((pid) => cpuOfTree(pid) >= workedMs));
        for (const pid of children()) process.kill(pid, 'SIGKILL');
        await expect(running).rejects.toMatchObject({
          ...{ name: 'RecognizerError', code: 'recognizer_error', retryable: true },
          message: expect.stringContaining('killed by SIGKILL'),
        });
        expect(children()).toEqual([]);
      }
      const last = await parts.recordings.made('-i', clips.at(-1)!.file);
      const transcript = await parts.recognizer.recognize(last, { signal });
      expectWellFormed(transcript, last.durationMs);
      expect(transcript.segments).not.toEqual([]);
    });
  });
}
