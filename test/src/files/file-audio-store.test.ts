import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { FileAudioStore } from '../../../src/files/file-audio-store.ts';
import { Spool } from '../../../src/files/spool.ts';
import { useFolder } from '../../support/use-folder.ts';
import { audioStoreConformance } from './audio-store-conformance.ts';

audioStoreConformance(async (dataDir) => {
  const store = new FileAudioStore(dataDir);
  const place = async (accountId: string, name: string) => {
    await mkdir(dirname(store.path(accountId, name)), { recursive: true });
    await writeFile(store.path(accountId, name), 'audio');
  };
  return { store, place, lose: () => rm(join(dataDir, 'audio'), { recursive: true }) };
});

const folder = useFolder();
const store = new FileAudioStore(folder);
const spool = new Spool(folder);
beforeAll(() => spool.open());

test('put → the file has its session as its name, in a folder of its account that only the owner may enter', async () => {
  const file = spool.newPath();
  await writeFile(file, 'one', { mode: 0o600 });
  await store.put(file, 'account', 'session');
  expect(((await stat(dirname(store.path('account', 'session')))).mode & 0o777).toString(8)).toBe('700');
  expect(await readdir(join(folder, 'audio', 'incoming'))).toEqual([]);
});

test('a time that a client or a copy set → says nothing of how long it is here: the change time does, and nobody can set it', async () => {
  const file = spool.newPath();
  await writeFile(file, 'audio');
  await utimes(file, 0, 0);
  await store.put(file, randomUUID(), randomUUID());
  const [audio] = await Array.fromAsync(store.list());
  expect(audio!.keptMs).toBeLessThan(3_600_000);
});
