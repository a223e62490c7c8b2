/** The whole service with its audio in an object store. */
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inAccountTransaction } from '../../db/accounts/account-transaction.ts';
import { audit } from '../../src/audit/audit.ts';
import { audioStoreBackend, selectAudioStore } from '../../src/files/verified-audio-store.ts';
import { readinessOf } from '../../src/process/roles.ts';
import { StorageProbe } from '../../src/files/storage-probe.ts';
import { Spool } from '../../src/files/spool.ts';
import { WorkFolder } from '../../src/files/work-folder.ts';
import { eraseSession } from '../../src/sessions/support.ts';
import { removeOrphans } from '../../src/worker/sweeps.ts';
import { useAccount, useService } from '../support/service/use-service.ts';
import { startTestService } from '../support/service/service.ts';
import { startProcess } from '../support/service/processes.ts';
import { final, row, upload } from '../support/service/jobs.ts';
import { until } from '../support/until.ts';
import { filePart, form, formType, tone, voice } from '../support/uploads/uploads.ts';
import { useFolder } from '../support/use-folder.ts';
import { age, useObjectStore } from './object-store.ts';
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

test('killed between the store and the transaction → the audio of nobody, which the sweep removes', async () => {
  const env = { ...objects.env, DATABASE_URL: service.databaseUrl, DATA_DIR: service.dataDir };
  const api = await startProcess('start-api', env);
  const sent = await inAccountTransaction(service.db, account.id, async () => {
    const sending = fetch(`${api.url}/v1/transcriptions`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${account.key}`, 'Content-Type': formType },
      body: new Uint8Array(form(filePart(await tone(500)))),
    }).then(({ status }) => status, () => 'cut off'); // prettier-ignore
    // Its transaction waits for this one.
    await until(async () => (await stored()).length === 1);
    process.kill(api.pid, 'SIGKILL');
    return { answer: await sending };
  });
  expect(sent.answer).toBe('cut off');
  const [orphan] = await stored();
  expect(await broken()).toContain('audio_is_needed');

  const worker = { ...service, audioStore: store, stopping: new AbortController().signal };
  const look = () => removeOrphans(worker, async () => {});
  await look();
  expect(await stored()).toEqual([orphan]);
  await age(join(objects.folder, 'some/where', account.id, orphan!), 31 * 60_000);
  await look();
  expect(await stored()).toEqual([]);
  // What the killed process was receiving goes after three minutes.
  expect((await broken()).filter((id) => id !== 'upload_is_alive')).toEqual([]);
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

test('AUDIO_STORE names another bucket, or another prefix → not ready, 503, and nothing is written there', async () => {
  const elsewhere = 's3://audio/elsewhere';
  const other = await startTestService({ env: { ...objects.env, AUDIO_STORE: elsewhere }, beside: service });
  const proven = await selectAudioStore(other.config, other.db);
  const asked = { db: other.db, audioStore: proven, storageProbe: new StorageProbe(proven, other.spool) };
  const { problem } = await readinessOf(asked, () => undefined, () => undefined); // prettier-ignore
  expect(problem).toContain(`${elsewhere}/ is not the audio store of this database: it does not hold its mark`);
  const { body } = await other.post('/v1/transcriptions', account.key).attach('file', file).expect(503);
  expect(body).toMatchObject({ code: 'unavailable' });
  expect(await readdir(join(objects.folder))).not.toContain('elsewhere');
  await other.stop();
});
