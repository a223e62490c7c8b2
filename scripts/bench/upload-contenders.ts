/** The servers that uploads are sent to, and the files that they leave. */
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { markName } from '../../src/files/audio-store.ts';
import { serviceEnv } from './program.ts';
import type { Setting } from './bench.ts';
import type { BenchAccount, BenchDatabase } from './database.ts';
import type { Program } from './program.ts';

export const asStarted = { NODE_ENV: 'production' };

export interface Contenders {
  database: BenchDatabase;
  accounts: BenchAccount[];
  bare: Program;
}

/** Removes the received files, outside of the measured time, so that the disk does not fill up. */
export async function removeFiles(setting: Setting): Promise<void> {
  const { DATA_DIR } = serviceEnv(setting, '');
  const folders = [join(DATA_DIR!, 'audio'), join(setting.folder, 'piped'), join(setting.folder, 'received/audio')];
  for (const folder of folders) {
    await mkdir(folder, { recursive: true });
    const received = (await readdir(folder)).filter((name) => name !== markName);
    await Promise.all(received.map((name) => rm(join(folder, name), { recursive: true })));
    if (folder.endsWith('audio')) await mkdir(join(folder, 'incoming'));
  }
}

export const bearer = ({ key }: BenchAccount) => ({ Authorization: `Bearer ${key}` });
