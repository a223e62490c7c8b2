/** A program in ffmpeg's place: the real one can't be made to hang or to die at will. */
import { chmod, mkdtemp, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** @param script shell commands that run as `ffmpeg` while `work` does */
export async function withFfmpeg<T>(script: string, work: () => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(process.env.TEST_FOLDER!, 'ffmpeg-'));
  await writeFile(join(folder, 'ffmpeg'), `#!/bin/sh\n${script}\n`);
  await chmod(folder, 0o755);
  await chmod(join(folder, 'ffmpeg'), 0o755);
  const path = process.env.PATH;
  process.env.PATH = [folder, path].join(delimiter);
  try {
    return await work();
  } finally {
    process.env.PATH = path;
  }
}
