/** A program in another's place, for processes of the service: the real one can't be made to hang or to die at will. */
import { chmod, mkdtemp, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

export interface FakePrograms {
  /** The folder of the programs. */
  folder: string;
  /** A PATH in which they come first. */
  path: string;
  /** Replaces one, or makes it. @param script shell commands */
  write(name: string, script: string): Promise<void>;
}

/** @param scripts shell commands by the name of the program that they stand in for */
export async function fakePrograms(scripts: Record<string, string>): Promise<FakePrograms> {
  const folder = await mkdtemp(join(process.env.TEST_FOLDER!, 'programs-'));
  await chmod(folder, 0o755);
  const write = async (name: string, script: string) => {
    await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(folder, name), 0o755);
  };
  for (const [name, script] of Object.entries(scripts)) await write(name, script);
  return { folder, path: [folder, process.env.PATH].join(delimiter), write };
}

/** A script that waits until the test makes `file`, and then goes on. */
export const afterFile = (file: string, script: string): string =>
  `while [ ! -e '${file}' ]; do sleep 0.1; done; ${script}`;

/** @param script shell commands that run as `ffmpeg` in this process while `work` does */
export async function withFfmpeg<T>(script: string, work: () => Promise<T>): Promise<T> {
  const { path } = await fakePrograms({ ffmpeg: script });
  const before = process.env.PATH;
  process.env.PATH = path;
  try {
    return await work();
  } finally {
    process.env.PATH = before;
  }
}
