/** Recordings as recognizers get them, made for one test file. */
import { join } from 'node:path';
import { decodeAudio } from '../../../../src/audio/decode.ts';
import { speakTones } from '../../../support/models/tiny/spoken-tones.ts';
import { ffmpeg } from '../../../support/uploads/audio-fixtures.ts';
import { useFolder } from '../../../support/use-folder.ts';
import type { Tone } from '../../../support/models/tiny/spoken-tones.ts';
import type { DecodedAudio } from '../../../../src/recognizers/recognizer.ts';

export function makeRecordings() {
  const folder = useFolder();
  let count = 0;
  const path = (ending: string) => join(folder, `${(count += 1)}.${ending}`);
  const decoded = async (input: string): Promise<DecodedAudio> => {
    const file = path('s16le');
    const limits = { maxDurationMs: 3_600_000, timeLimitMs: 30_000 };
    return { file, ...(await decodeAudio({ input, output: file, ...limits })) };
  };
  /** What ffmpeg makes of these arguments, without the output. */
  const made = async (...args: string[]) => decoded(await ffmpeg(...args, path('wav')));
  return {
    made,
    /** Tones, one each so many seconds. */
    ofTones: async (tones: readonly Tone[], seconds?: number) =>
      decoded((await speakTones(folder, `${(count += 1)}`, tones, seconds)).file),
    /** A clip that begins at each of these times, in ms, with silence around it, in all at least so long. */
    at(startsMs: readonly number[], { file }: { file: string }, atLeastMs: number) {
      const inputs = startsMs.flatMap(() => ['-i', file]);
      const delayed = startsMs.map((ms, input) => `[${input}]adelay=${Math.round(ms)}[d${input}];`).join('');
      const labels = startsMs.map((_, input) => `[d${input}]`).join('');
      const mix = `amix=inputs=${startsMs.length}:normalize=0,apad=whole_dur=${atLeastMs}ms`;
      return made(...inputs, '-filter_complex', `${delayed}${labels}${mix}`);
    },
  };
}
