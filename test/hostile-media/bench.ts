/** What the corpus is made with, and the traps that nothing may step into. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { serve } from '../support/serve.ts';
import { ffmpeg, sine, speechClips } from '../support/uploads/audio-fixtures.ts';
import { useFolder } from '../support/use-folder.ts';

const execute = promisify(execFile);

export type Bench = Awaited<ReturnType<typeof setUpBench>>;

export async function setUpBench() {
  const folder = useFolder();
  let made = 0;
  let connections = 0;
  const next = (extension: string) => join(folder, `made-${(made += 1)}.${extension}`);
  /** A file that an upload may name and that nobody may open: one second of sound. */
  const canary = await ffmpeg(...sine(1), join(folder, 'canary.wav'));
  const served = await readFile(canary);
  const { url, server } = await serve((_request, response) => response.end(served));
  server.on('connection', () => (connections += 1));
  const [clip] = await speechClips();
  return {
    canary,
    /** An address on the loopback where such a file is served. */
    url: `${url}/canary.wav`,
    /** How many connections came to that address. */
    connections: () => connections,
    /** Two seconds of human speech, 16 kHz mono. */
    speech: await ffmpeg('-t', '2', '-i', clip!.file, next('wav')),
    /** The bytes of a file that ffmpeg makes; the arguments name everything but the file. */
    ffmpeg: async (extension: string, ...args: string[]): Promise<Buffer> =>
      readFile(await ffmpeg(...args, next(extension))),
    /** The bytes of a file that sox makes of one second of a tone. */
    async sox(extension: string, ...args: string[]): Promise<Buffer> {
      const file = next(extension);
      await execute('sox', ['-n', '-R', '-r', '8000', '-c', '1', ...args, file, 'synth', '1', 'sine', '440']);
      return readFile(file);
    },
    /** Writes a file for ffmpeg to read. */
    async file(name: string, content: string | Buffer): Promise<string> {
      await writeFile(join(folder, name), content);
      return join(folder, name);
    },
  };
}
