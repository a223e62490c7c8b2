/** Where audio is kept, and the disk of this machine. */
import { bareAudioStore } from '../../../src/files/own-audio-store.ts';
import { whyNotOurs } from '../../../src/files/known-store.ts';
import { Spool } from '../../../src/files/spool.ts';
import { tryStore } from '../../../src/files/store-trial.ts';
import { WorkFolder } from '../../../src/files/work-folder.ts';
import type { Check, Patient } from './check.ts';

async function store({ config, database, hasTables }: Patient): Promise<string> {
  const bare = await bareAudioStore(config);
  const isStrange = !hasTables && (await bare.readMark()) !== undefined;
  const why = hasTables ? await whyNotOurs(database!.direct, bare) : undefined;
  if (isStrange) throw new Error(`${bare.place} is another database's, and this one is empty`);
  if (why !== undefined) throw new Error(why);
  const spool = new Spool(config.dataDir);
  await bare.open();
  await spool.open();
  await bare.checkReadable();
  await tryStore(bare, spool);
  return `${bare.place} takes audio, gives it back and removes it`;
}

async function disk({ config }: Patient): Promise<string> {
  const folder = new WorkFolder(config.dataDir);
  await folder.open();
  await folder.checkWritable();
  const free = await folder.freeBytes();
  const found = `${gigabytes(free)} free below ${config.dataDir}`;
  if (free < config.minFreeDisk) throw new Error(`${found}; uploads leave MIN_FREE_DISK=${config.minFreeDisk}`);
  return found;
}

const gigabytes = (bytes: number) => `${(bytes / 1024 ** 3).toFixed(1)} GiB`;

export const storageChecks: Check[] = [
  {
    ...{ name: 'audio store', look: store },
    todo: 'Is AUDIO_STORE right, does its key allow what OPERATIONS.md lists, and does the store know If-None-Match and CRC32?',
  },
  {
    ...{ name: 'disk', needs: 'store', look: disk },
    todo: 'Make room, or set DATA_DIR to a disk that this user may write to.',
  },
];
