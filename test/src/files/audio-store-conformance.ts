/** What every audio store does. The same cases run for files and, with Go installed, for an object store. */
import { randomUUID } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { useFolder } from '../../support/use-folder.ts';
import { until } from '../../support/until.ts';
import { byAccount } from '../../../src/files/audio-store.ts';
import { Spool } from '../../../src/files/spool.ts';
import type { AudioStoreBackend } from '../../../src/files/audio-store.ts';

export interface StoreUnderTest {
  store: AudioStoreBackend;
  /** Puts something beside the audio, as a person would. */
  place(accountId: string, name: string): Promise<void>;
  /** Takes everything away, as when a disk is not mounted or a bucket is gone. */
  lose(): Promise<void>;
}

const MiB = 1024 ** 2;

/** @param open makes an empty store in this folder, once for all cases */
export function audioStoreConformance(open: (dataDir: string) => Promise<StoreUnderTest>): void {
  const dataDir = useFolder();
  const spool = new Spool(dataDir);
  let tested: StoreUnderTest;
  let store: AudioStoreBackend;
  let account: string;
  beforeAll(async () => {
    tested = await open(dataDir);
    store = tested.store;
    await store.open();
    await spool.open();
  });
  beforeEach(() => void (account = randomUUID()));

  const incoming = async (content: string | Buffer = 'audio') => {
    const path = spool.newPath();
    await writeFile(path, content, { mode: 0o600 });
    return path;
  };
  const put = async (sessionId: string, content: string | Buffer = 'audio', accountId = account) => {
    const path = await incoming(content);
    await store.put(path, accountId, sessionId);
    await spool.remove(path);
  };
  const read = async (sessionId: string, bytes?: number) => {
    const to = join(dataDir, randomUUID());
    const { signal } = new AbortController();
    const content = await readFile(await store.fetch(account, sessionId, { to, bytes, signal }));
    await rm(to, { force: true });
    return content;
  };
  const have = (...owners: [string, string][]) => Promise.all(owners.map(([a, id]) => store.exists(a, id)));
  const listed = async () => (await Array.fromAsync(store.list())).filter(({ accountId }) => accountId === account);

  test.each([1, 1_000, 8 * MiB, 8 * MiB + 1, 20 * MiB])('%i bytes → put and fetched, as they were', async (bytes) => {
    const id = randomUUID();
    const content = Buffer.from(Array.from({ length: 251 }, (_, at) => at));
    const whole = Buffer.alloc(bytes, content);
    await put(id, whole);
    expect((await read(id, bytes)).equals(whole)).toBe(true);
  });

  test('put where audio is already → refused, and that stays', async () => {
    const id = randomUUID();
    await put(id, 'first');
    await expect(put(id, 'other')).rejects.toThrow(`${id} has audio already`);
    expect(String(await read(id))).toBe('first');
  });

  test('put of a file that is gone → an error, and no audio', async () => {
    const id = randomUUID();
    await expect(store.put(spool.newPath(), account, id)).rejects.toThrow('ENOENT');
    expect(await have([account, id])).toEqual([false]);
  });

  test('audio that is not there → nothing to read', async () => {
    await put(randomUUID());
    await expect(read(randomUUID())).rejects.toThrow();
  });

  test('remove → only that is gone; again → no error', async () => {
    const [one, two] = [randomUUID(), randomUUID()];
    await put(one);
    await put(two);
    await store.remove(account, one);
    await store.remove(account, one);
    expect(await have([account, one], [account, two])).toEqual([false, true]);
  });

  test('removeAccount → the audio of that account is gone, that of others is not', async () => {
    const [other, id] = [randomUUID(), randomUUID()];
    await put(id);
    await put(id, 'audio', other);
    await store.removeAccount(account);
    await store.removeAccount(randomUUID());
    expect(await have([account, id], [other, id])).toEqual([false, true]);
  });

  test('list → everything, in order, more than a page holds, with its age', async () => {
    const ids = Array.from({ length: 1_100 }, () => randomUUID());
    for (const id of ids) await tested.place(account, id);
    await tested.place(account, 'notes of a person.txt');
    const found = await until(listed, ({ length }) => length === 1_101);
    expect(found.map(({ name }) => name)).toEqual([...ids, 'notes of a person.txt'].sort());
    // Clocks of stores may count whole seconds.
    for (const { ageMs, keptMs } of found)
      for (const ms of [ageMs, keptMs]) expect(ms > -2_000 && ms < 600_000).toBe(true);
    const accounts = (await Array.fromAsync(store.list())).map(({ accountId }) => accountId);
    expect(accounts).toEqual([...accounts].sort());
  });

  test('by account → no more at a time than asked for, and never of two accounts', async () => {
    const other = randomUUID();
    for (const id of [1, 2, 3].map(() => randomUUID())) await put(id);
    await put(randomUUID(), 'audio', other);
    const groups = (await Array.fromAsync(byAccount(store.list(), 2))).filter(({ accountId }) =>
      [account, other].includes(accountId),
    );
    expect(groups.map(({ files }) => files.length).sort()).toEqual([1, 1, 2]);
    for (const { accountId, files } of groups) expect(files.every((file) => file.accountId === accountId)).toBe(true);
  });

  test('the store is gone → said so', async () => {
    await store.checkReadable();
    await tested.lose();
    await expect(store.checkReadable()).rejects.toThrow();
  });
}
