/** What an operator sees of a service that works: each series moves with what it counts. */
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { openDatabase } from '../../db/connection/database.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import { selectAudioStore } from '../../src/files/verified-audio-store.ts';
import { createLog } from '../../src/ops/log.ts';
import { Metrics } from '../../src/ops/metrics.ts';
import { holdTheClock } from '../support/faults/held-clock.ts';
import { startRefusingStore } from '../support/faults/refusing-store.ts';
import { ScriptedRecognizer, gate, says } from '../support/models/scripted-recognizer.ts';
import { jest } from '../support/run/jest.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { queueSession } from '../support/service/sessions.ts';
import { useAccount, useService } from '../support/service/use-service.ts';
import { until } from '../support/until.ts';
import { RawUpload } from '../support/uploads/raw-upload.ts';
import { filePart, form, tone } from '../support/uploads/uploads.ts';

const service = await useService();
const account = await useAccount(service);
const audio = await tone(2_000);
afterEach(() => void jest.useRealTimers());

/** The value of `name{labels}` as Prometheus reads it. */
async function shown(series: string, { registry }: Metrics = service.metrics): Promise<number | undefined> {
  const [name = ''] = series.split('{');
  const metric = registry.getSingleMetric(name) === undefined ? name.replace(/_(count|sum)$/, '') : name;
  const lines = (await registry.getSingleMetricAsString(metric)).split('\n');
  const line = lines.find((text) => text.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

/** By how much each of these has grown meanwhile. */
async function growth(series: readonly string[], work: () => Promise<unknown>): Promise<number[]> {
  const read = () => Promise.all(series.map(async (one) => (await shown(one)) ?? 0));
  const before = await read();
  await work();
  const after = await read();
  return after.map((value, i) => value - before[i]!);
}

const answered = 'transcription_request_seconds_count{operation="createTranscription",status="2xx"}';
const upload = () => service.post('/v1/transcriptions', account.key).attach('file', audio, 'tone.wav');
const isDone = async (id: string) => (await service.get(`/v1/sessions/${id}`, account.key)).body.status === 'completed';

test('an upload until its transcript → latency, time in queue, the worker’s slots, the store, and what it is charged', async () => {
  const spoken = gate();
  const counted = [
    answered,
    'transcription_queue_seconds_count',
    'transcription_charged_audio_seconds_total',
    'transcription_store_seconds_count{call="put"}',
    'transcription_store_seconds_count{call="fetch"}',
  ];
  expect(await shown('transcription_worker_slots')).toBeUndefined();
  const worker = await service.work(
    new ScriptedRecognizer(async ({ options }) => {
      await spoken.passed(options.signal);
      return options.language === 'de' ? { language: 'de', segments: [] } : says('hello world');
    }),
  );
  const grown = await growth(counted, async () => {
    const { body } = await upload().expect(202);
    await until(async () => (await shown('transcription_worker_slots_in_use')) === 1);
    expect(await shown('transcription_worker_slots')).toBe(service.config.workerConcurrency);
    spoken.open();
    await until(() => isDone(body.sessionId as string));
  });
  expect(grown).toEqual([1, 1, 2, 1, 1]);
  await until(async () => (await shown('transcription_worker_slots_in_use')) === 0);

  // Nothing was said: it is transcribed, and not charged.
  const ofSilence = await growth(counted.slice(1, 3), async () => {
    const { body } = await upload().field('language', 'de').expect(202);
    await until(() => isDone(body.sessionId as string));
  });
  expect(ofSilence).toEqual([1, 0]);
  await worker.stop();
});

test('an upload that comes slowly → in flight meanwhile, and its latency begins with its last byte', async () => {
  holdTheClock('performance', 'intervals');
  const seconds = answered.replace('_count', '_sum');
  const body = form(filePart(audio));
  const client = new RawUpload(service.api.port).head({
    ...{ Authorization: `Bearer ${account.key}`, 'Content-Length': body.length },
  });
  const grown = await growth([answered, seconds], async () => {
    client.send(body.subarray(0, 1_000));
    await until(async () => (await shown('transcription_uploads_in_flight')) === 1);
    expect(await shown('transcription_requests_in_flight')).toBe(1);
    jest.advanceTimersByTime(20_000);
    client.send(body.subarray(1_000));
    expect(await client.answer()).toMatchObject({ status: 202 });
    client.socket.destroy();
    await until(async () => (await shown('transcription_requests_in_flight')) === 0);
  });
  expect(grown).toEqual([1, 0]);
  expect(await shown('transcription_uploads_in_flight')).toBe(0);
});

test('an answer that `wait` holds → counted as waiting, and in no latency', async () => {
  const { id } = await queueSession(service.db, account.id);
  const read = `transcription_request_seconds_count{operation="getTranscript",status="2xx"}`;
  const held = 'transcription_wait_seconds_count';
  const ask = (query: string) => service.get(`/v1/sessions/${id}/transcript${query}`, account.key).expect(200);
  const grown = await growth([read, held], async () => {
    const waiting = ask('?wait=1').then();
    await until(async () => (await shown('transcription_waits_in_flight')) === 1);
    await waiting;
    expect(await shown('transcription_waits_in_flight')).toBe(0);
    await ask('?wait=0');
    await ask('');
  });
  expect(grown).toEqual([2, 1]);
});

test('requests that are refused → a class of their own; what belongs to no operation has no latency', async () => {
  const refused = 'transcription_request_seconds_count{operation="listSessions",status="4xx"}';
  expect(await growth([refused], () => service.get('/v1/sessions?page=1', account.key).expect(400))).toEqual([1]);
  await service.get('/v1/nothing').expect(404);
  expect(await service.metrics.registry.metrics()).not.toContain('request_seconds_count{operation="none"');
});

test('a store that refuses uploads, and one that lost a recording → an error of each kind', async () => {
  const objects = await startRefusingStore();
  const refusing = await useService({ env: objects.env });
  const { key } = await makeAccount(refusing.db);
  const errors = (call: string, reason: string) =>
    shown(`transcription_store_errors_total{call="${call}",reason="${reason}"}`, refusing.metrics);
  const send = () => refusing.post('/v1/transcriptions', key).attach('file', audio, 'tone.wav');
  await send().expect(202);
  // What the trial at the start was refused is how the store is to behave.
  expect(await errors('put', 'away')).toBe(0);
  objects.uploads = 'AccessDenied';
  await send().expect(503);
  expect(await errors('put', 'away')).toBe(1);

  const store = await selectAudioStore(refusing.config, refusing.db, refusing.metrics.onStoreCalled);
  const wanted = { to: '/nowhere', bytes: 1, signal: AbortSignal.timeout(60_000) };
  await expect(store.fetch(randomUUID(), randomUUID(), wanted)).rejects.toThrow(/is not in the object store/);
  expect(await errors('fetch', 'unreadable')).toBe(1);
});

test('a full pool → its connections, and who waits', async () => {
  const { db, close } = openDatabase(service.databaseUrl, () => {}, { maxConnections: 2 });
  const metrics = new Metrics(db, createLog({ logLevel: 'silent' }));
  const pool = (what: string) => shown(`transcription_database_${what}`, metrics);
  await sql`select 1`.execute(db);
  expect(await pool('connections_limit')).toBe(2);
  expect(await pool('connections{state="idle"}')).toBe(1);
  let asked: Promise<unknown> | undefined;
  await inTransaction(db, () =>
    inTransaction(db, async () => {
      expect(await pool('connections{state="in_use"}')).toBe(2);
      expect(await pool('waiting')).toBe(0);
      asked = sql`select 1`.execute(db);
      await until(async () => (await pool('waiting')) === 1);
    }),
  );
  await asked;
  expect(await pool('waiting')).toBe(0);
  await close();
});

test('what runs here is named', async () => {
  const line = /^transcription_build_info{version="\d+\.\d+\.\d+[^"]*",node="26\.[^"]+"} 1$/m;
  expect(await service.metrics.registry.metrics()).toMatch(line);
});

// Debian's package `prometheus` has it; `.ci/run` says when it is missing.
const hasPromtool = spawnSync('promtool', ['--version']).error === undefined;
(hasPromtool ? test : test.skip)('promtool has nothing to say of the page', async () => {
  const input = await service.metrics.registry.metrics();
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' });
  expect({ status, said: stdout + stderr }).toEqual({ status: 0, said: '' });
});
