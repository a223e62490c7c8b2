/** Recordings as recognizers get them, made for one test file. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { decodeAudio } from '../../../../src/audio/decode.ts';
import { ffmpeg } from '../../../support/uploads/audio-fixtures.ts';
import type { DecodedAudio } from '../../../../src/recognizers/recognizer.ts';

export interface Recordings {
  /** What ffmpeg makes of these arguments, without the output. */
  made(...args: string[]): Promise<DecodedAudio>;
  /** Clips one after the other with silence of 1 s behind each, so that there are several utterances. */
  ofClips(clips: readonly { file: string }[]): Promise<DecodedAudio>;
  /** A clip that begins at each of these times, in ms, with silence around it, in all at least so long. */
  at(startsMs: readonly number[], clip: { file: string }, atLeastMs: number): Promise<DecodedAudio>;
  /** What a voice of espeak-ng says. */
  spoken(voice: string, text: string): Promise<DecodedAudio>;
  remove(): void;
}

export function makeRecordings(): Recordings {
  const folder = mkdtempSync(join(process.env.TEST_FOLDER!, 'recordings-'));
  let count = 0;
  const path = (ending: string) => join(folder, `${(count += 1)}.${ending}`);
  const decoded = async (input: string): Promise<DecodedAudio> => {
    const file = path('s16le');
    const limits = { maxDurationMs: 3_600_000, timeLimitMs: 30_000 };
    return { file, ...(await decodeAudio({ input, output: file, ...limits })) };
  };
  const made = async (...args: string[]) => decoded(await ffmpeg(...args, path('wav')));
  return {
    made,
    ofClips(clips) {
      const inputs = clips.flatMap(({ file }) => ['-i', file]);
      const padded = clips.map((_, input) => `[${input}]apad=pad_dur=1[p${input}];`).join('');
      const labels = clips.map((_, input) => `[p${input}]`).join('');
      return made(...inputs, '-filter_complex', `${padded}${labels}concat=n=${clips.length}:v=0:a=1`);
    },
    at(startsMs, { file }, atLeastMs) {
      const inputs = startsMs.flatMap(() => ['-i', file]);
      const delayed = startsMs.map((ms, input) => `[${input}]adelay=${Math.round(ms)}[d${input}];`).join('');
      const labels = startsMs.map((_, input) => `[d${input}]`).join('');
      const mix = `amix=inputs=${startsMs.length}:normalize=0,apad=whole_dur=${atLeastMs}ms`;
      return made(...inputs, '-filter_complex', `${delayed}${labels}${mix}`);
    },
    async spoken(voice, text) {
      const file = path('wav');
      await promisify(execFile)('espeak-ng', ['-v', voice, '-w', file, text]);
      return decoded(file);
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}
