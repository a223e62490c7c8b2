import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { FileAudioStore } from '../../../src/files/file-audio-store.ts';
import { Spool } from '../../../src/files/spool.ts';

let dataDir: string;
let store: FileAudioStore;
let spool: Spool;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'audio-store-test-'));
  store = new FileAudioStore(dataDir);
  spool = new Spool(dataDir);
  await store.open();
  await spool.open();
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

async function incoming(content = 'audio'): Promise<string> {
  const path = spool.newPath();
  await writeFile(path, content, { mode: 0o600 });
  return path;
}

test('put → the file has its session as its name, in a folder of its account that only the owner may enter', async () => {
  await store.put(await incoming('one'), 'account', 'session');
  await store.put(await incoming('two'), 'account', 'session-2');
  expect(await readFile(store.path('account', 'session'), 'utf8')).toBe('one');
  expect(((await stat(dirname(store.path('account', 'session')))).mode & 0o777).toString(8)).toBe('700');
  expect(await readdir(join(dataDir, 'audio', 'incoming'))).toEqual([]);
});

test('put of a file that is gone → an error, and no session file', async () => {
  await expect(store.put(spool.newPath(), 'account', 'session')).rejects.toThrow('ENOENT');
  expect(await store.exists('account', 'session')).toBe(false);
});

test('remove → only that file is gone; again → no error', async () => {
  await store.put(await incoming(), 'account', 'one');
  await store.put(await incoming(), 'account', 'two');
  await store.remove('account', 'one');
  await store.remove('account', 'one');
  expect([await store.exists('account', 'one'), await store.exists('account', 'two')]).toEqual([false, true]);
});

test('removeAccount → the files of that account are gone, those of others are not', async () => {
  await store.put(await incoming(), 'account', 'one');
  await store.put(await incoming(), 'other', 'one');
  await store.removeAccount('account');
  await store.removeAccount('never was');
  expect([await store.exists('account', 'one'), await store.exists('other', 'one')]).toEqual([false, true]);
});

test('names of incoming files → never the same twice', () => {
  expect(new Set(Array.from({ length: 1_000 }, () => spool.newPath())).size).toBe(1_000);
});

test('old files → found once they were not touched for long enough', async () => {
  const path = await incoming();
  const [accountId, sessionId] = [randomUUID(), randomUUID()];
  // A time that a client or a copy set says nothing: the change time does, and nobody can set it.
  await utimes(path, 0, 0);
  await store.put(path, accountId, sessionId);
  const old = (before: number) => Array.fromAsync(store.olderThan(before));
  expect(await old(Date.now() - 60_000)).toEqual([]);
  expect(await old(Date.now() + 60_000)).toEqual([{ accountId, sessionIds: [sessionId] }]);
});
