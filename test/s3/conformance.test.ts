/** What an object store does as files do, and what it does besides. */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CreateMultipartUploadCommand, S3Client } from '@aws-sdk/client-s3';
import { audioStoreBackend } from '../../src/files/verified-audio-store.ts';
import { AudioStoreUnavailable } from '../../src/files/audio-store.ts';
import { readConfig } from '../../src/config/config.ts';
import { audioStoreConformance } from '../src/files/audio-store-conformance.ts';
import { giveBack, sendOn, serve } from '../support/serve.ts';
import { useFolder } from '../support/use-folder.ts';
import { age, useObjectStore } from './object-store.ts';
import type { AudioStore } from '../../src/files/audio-store.ts';
import type { ObjectStore } from './object-store.ts';

const MiB = 1024 ** 2;
const hourMs = 3_600_000;
const [shared, objects] = [await useObjectStore(), await useObjectStore()];
const folder = useFolder();
const storeOf = ({ env }: ObjectStore) =>
  audioStoreBackend(readConfig({ DATABASE_URL: 'postgres://nobody/nothing', DATA_DIR: folder, ...env }));

audioStoreConformance(async () => ({
  store: await storeOf(shared),
  async place(accountId, name) {
    const folder = join(shared.folder, 'some/where', accountId);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, name), 'audio');
  },
  lose: () => rm(shared.folder, { recursive: true }),
}));

let store: AudioStore;
const [account, never] = [randomUUID(), new AbortController().signal];
beforeAll(async () => void (store = await storeOf(objects)));

async function put(bytes = 20 * MiB): Promise<{ id: string; file: string; object: string }> {
  const id = randomUUID();
  const file = join(folder, id);
  await writeFile(file, Buffer.alloc(bytes, id));
  await store.put(file, account, id);
  return { id, file, object: join(objects.folder, 'some/where', account, id) };
}
const fetch = (id: string, wanted: { bytes?: number; signal?: AbortSignal } = {}) =>
  store.fetch(account, id, { to: join(folder, randomUUID()), bytes: wanted.bytes, signal: wanted.signal ?? never });
/** What stays so, whatever the store is told. */
const unreadable = (message: string) =>
  expect.objectContaining({ name: 'AudioUnreadable', message: expect.stringContaining(message) }) as Error;

test('a changed byte in the store → refused, in one part and in many', async () => {
  for (const bytes of [1_000, 20 * MiB]) {
    const { id, file, object } = await put(bytes);
    const damaged = await readFile(file);
    damaged[bytes / 2] = 0;
    await writeFile(object, damaged);
    await expect(fetch(id, { bytes })).rejects.toThrow(unreadable('Checksum mismatch'));
  }
});

test.each([1_000, 20 * MiB])(
  '%i bytes, whose answer gets lost on its way → stored all the same, once',
  async (bytes) => {
    const lossy = await answersGetLost(objects.env['AWS_ENDPOINT_URL']!);
    const file = join(folder, randomUUID());
    await writeFile(file, Buffer.alloc(bytes, 'a'));
    const id = randomUUID();
    const far = await storeOf({ ...objects, env: { ...objects.env, AWS_ENDPOINT_URL: lossy.url } });
    await far.put(file, account, id);
    expect(lossy.lost()).toBe(1);
    await expect(fetch(id, { bytes })).resolves.toBeDefined();
    // What is there is another's: then it is not taken for ours.
    await expect(far.put(file, account, id)).rejects.toThrow('has audio already');
  },
);

/** A way to an object store on which the first answer that says "stored" gets lost. */
async function answersGetLost(url: string): Promise<{ url: string; lost(): number }> {
  let lost = 0;
  const way = await serve(async (req, res) => {
    const { method, url: path } = req;
    const isWhole = method === 'PUT' ? !path!.includes('partNumber=') : path!.includes('?uploadId=');
    const answer = await sendOn(req, new URL(path!, url));
    if (!isWhole || method === 'DELETE' || lost > 0) return giveBack(answer, res);
    lost += 1;
    return answer.resume().once('end', () => res.destroy());
  });
  return { url: way.url, lost: () => lost };
}

test('audio of another length than its row says → refused', async () => {
  const { id } = await put(1_000);
  await expect(fetch(id, { bytes: 1_001 })).rejects.toThrow(unreadable('has 1000 bytes, not 1001'));
  await expect(fetch(id, { bytes: 1_000 })).resolves.toBeDefined();
});

test('audio that is gone → unreadable, and not a fault of the store', async () => {
  await expect(fetch(randomUUID())).rejects.toThrow(unreadable('is not in the object store'));
});

test('uploads in parts that nobody ends → aborted after a day by the clock of the store, younger ones left alone', async () => {
  const client = new S3Client({
    endpoint: objects.env['AWS_ENDPOINT_URL']!,
    region: 'us-east-1',
    forcePathStyle: true,
  });
  const begin = async (Key: string) =>
    (await client.send(new CreateMultipartUploadCommand({ Bucket: 'audio', Key }))).UploadId!;
  const [old, young] = [await begin('some/where/old'), await begin('some/where/young')];
  const [others] = [await begin('somebody/else')];
  const uploads = async () =>
    (await readdir(objects.folder, { recursive: true, withFileTypes: true }))
      .filter(({ name }) => [old, young, others].includes(name))
      .map(({ parentPath, name }) => join(parentPath, name));
  for (const path of await uploads()) if (!path.endsWith(young)) await age(path, 25 * hourMs);
  await store.endAbandonedPuts();
  expect((await uploads()).map((path) => path.split('/').at(-1)).sort()).toEqual([young, others].sort());
});

test('ages are by the clock of the store, whatever that of this machine says', async () => {
  const { id, object } = await put(10);
  await age(object, 3 * hourMs);
  const now = Date.now;
  Date.now = () => now() + 24 * hourMs;
  try {
    // Another client: each remembers how wrong its clock is.
    const found = (await Array.fromAsync((await storeOf(objects)).list())).find(({ name }) => name === id);
    expect(Math.round(found!.keptMs / hourMs)).toBe(3);
  } finally {
    Date.now = now;
  }
});

test('away, or with another secret → said so, without the secret; back → it goes on', async () => {
  const { id, file } = await put(1_000);
  await objects.machine.kill();
  const asked = [store.checkReadable(), fetch(id), store.put(file, account, randomUUID()), store.exists(account, id)];
  for (const { reason } of (await Promise.allSettled(asked)) as PromiseRejectedResult[])
    expect(reason).toBeInstanceOf(AudioStoreUnavailable);
  await objects.machine.start();
  expect(await store.exists(account, id)).toBe(true);

  process.env['AWS_SECRET_ACCESS_KEY'] = 'another-secret';
  const refused = await (
    await storeOf(objects)
  )
    .checkReadable()
    .catch((error: unknown) => error as AudioStoreUnavailable);
  process.env['AWS_SECRET_ACCESS_KEY'] = objects.env['AWS_SECRET_ACCESS_KEY'];
  expect(refused).toMatchObject({
    name: 'AudioStoreUnavailable',
    message: expect.stringContaining('SignatureDoesNotMatch'),
  });
  expect(JSON.stringify(refused, Object.getOwnPropertyNames(refused))).not.toMatch(/another-secret|Authorization/);
});

test('frozen while the worker fetches, which then stops → it does not wait for the store', async () => {
  const { id } = await put(1_000);
  objects.machine.freeze();
  const stopping = new AbortController();
  const fetching = fetch(id, { signal: stopping.signal });
  stopping.abort(new Error('asked to stop'));
  await expect(fetching).rejects.toThrow('asked to stop');
  objects.machine.thaw();
});
