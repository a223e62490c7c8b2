/** The whole service with its audio in an object store. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { audit } from '../../src/audit/audit.ts';
import { audioStoreBackend } from '../../src/files/verified-audio-store.ts';
import { Spool } from '../../src/files/spool.ts';
import { WorkFolder } from '../../src/files/work-folder.ts';
import { eraseSession } from '../../src/sessions/support.ts';
import { useAccount, useService } from '../support/service/use-service.ts';
import { final, row, upload } from '../support/service/jobs.ts';
import { until } from '../support/until.ts';
import { voice } from '../support/uploads/uploads.ts';
import { useFolder } from '../support/use-folder.ts';
import { useObjectStore } from './object-store.ts';
import type { AudioStore } from '../../src/files/audio-store.ts';

const objects = await useObjectStore();
const service = await useService({ env: objects.env });
const account = await useAccount(service);
const folder = useFolder();
let store: AudioStore;
let workFolder: WorkFolder;
let file: string;
beforeAll(async () => {
  store = await audioStoreBackend(service.config);
  workFolder = new WorkFolder(service.dataDir);
  file = join(folder, 'tone.wav');
  await writeFile(file, await voice(1_000));
});

const stored = async () => (await Array.fromAsync(store.list())).map(({ name }) => name);
const broken = async () => {
  const files = { audioStore: store, spool: new Spool(service.dataDir), workFolder };
  const { checks } = await audit(
    { db: service.db, ...files },
    { grace: { sweptWithinMs: -Infinity, removedWithinMs: 0 } },
  );
  return checks.filter(({ breaches }) => breaches > 0).map(({ id }) => id);
};

test('uploaded → in the store; deleted by support → gone; lost there → the auditor says so', async () => {
  const { sessionId } = await upload(service, account, file);
  expect(await stored()).toEqual([sessionId]);
  expect(await broken()).toEqual([]);
  await store.remove(account.id, sessionId);
  expect(await broken()).toEqual(['needed_audio_is_there']);
  await eraseSession({ ...service, audioStore: store }, account.id, sessionId);

  const kept = await upload(service, account, file);
  await eraseSession({ ...service, audioStore: store }, account.id, kept.sessionId);
  expect(await stored()).toEqual([]);
  expect(await broken()).toEqual([]);
});

test('the store is away at an upload → 503 with Retry-After, and nothing of it is left', async () => {
  await objects.machine.kill();
  const { body, headers } = await service.post('/v1/transcriptions', account.key).attach('file', file).expect(503);
  expect(body).toMatchObject({ code: 'unavailable', detail: expect.stringContaining('can not store audio now') });
  expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  await objects.machine.start();
  expect(await stored()).toEqual([]);
  await until(async () => (await broken()).length === 0);
  expect(service.logLines.join()).not.toContain(objects.env['AWS_SECRET_ACCESS_KEY']);
});

test('the store is away when the worker comes → it waits, no attempt is spent; back → transcribed, charged once, gone', async () => {
  const { sessionId } = await upload(service, account, file);
  await objects.machine.kill();
  const worker = await service.work();
  const why = await until(() => worker.notReadyReason());
  expect(why).toContain('until this has been put right: the object store can not be used');
  await until(async () => (await row(service, account, sessionId)).status === 'queued');
  expect(await row(service, account, sessionId)).toMatchObject({ attempts_left: 3, reserved_ms: 1_000 });
  await objects.machine.start();
  expect(await final(service, account, sessionId)).toMatchObject({ status: 'completed' });
  await until(async () => (await stored()).length === 0);
  await until(async () => (await broken()).every((id) => id === 'upload_is_alive'));
});
