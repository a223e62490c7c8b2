/** API_PROCESSES=2: two processes answer on one port, and are one service for clients and operators. */
import { spawnSync } from 'node:child_process';
import { newApiKey } from '../../src/api/access/api-key.ts';
import { atEnd } from '../support/at-end.ts';
import { startRelay } from '../support/faults/relay.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { killLeftovers } from '../support/service/processes.ts';
import { makeSession } from '../support/service/sessions.ts';
import { KeptConnection, processOf, startSeveral } from '../support/service/several-processes.ts';
import { useService } from '../support/service/use-service.ts';
import { withinAMinute } from '../support/service/within-a-minute.ts';
import { RawUpload } from '../support/uploads/raw-upload.ts';
import { closing, filePart, tone } from '../support/uploads/uploads.ts';
import { until } from '../support/until.ts';
import type { Relay } from '../support/faults/relay.ts';
import type { SeveralProcesses } from '../support/service/several-processes.ts';

const beside = await useService();
let relay: Relay;
let service: SeveralProcesses;
beforeAll(async () => {
  relay = await startRelay(beside.databaseUrl);
  atEnd(relay.close);
  atEnd(killLeftovers);
  const env = { DATABASE_URL: relay.url, DATA_DIR: beside.dataDir, AUTH_FAILURES_PER_MINUTE: '3' };
  service = await startSeveral('start-api', env);
});

const connections = (count: number, key?: string) =>
  Array.from({ length: count }, () => new KeptConnection(service.port, key));
const leave = (kept: KeptConnection[]) => kept.forEach(({ socket }) => socket.destroy());
const listed = (status: number) => `transcription_requests_total{operation="listSessions",status="${status}"}`;

test('connections are dealt out in turn, and a connection stays with its process', async () => {
  const { key } = await makeAccount(beside.db);
  const answeredBy: number[] = [];
  for (let i = 0; i < 6; i += 1) {
    const kept = new KeptConnection(service.port, key);
    const first = await processOf(service, (await kept.get('/v1/sessions'))!);
    expect(await processOf(service, (await kept.get('/v1/sessions'))!)).toBe(first);
    answeredBy.push(first);
    leave([kept]);
  }
  for (const pid of service.children('api')) expect(answeredBy.filter((by) => by === pid)).toHaveLength(3);
});

test('requests to both → the metrics are sums, what is read from the database is not added up', async () => {
  const { id, key } = await makeAccount(beside.db);
  await makeSession(beside.db, id, { status: 'processing' });
  const before = (await service.metric(listed(200))) ?? 0;
  const kept = connections(4, key);
  for (let round = 0; round < 3; round += 1) await Promise.all(kept.map((one) => one.get('/v1/sessions')));
  expect(await service.metric(listed(200))).toBe(before + 12);
  expect(await service.metric('transcription_sessions{status="processing"}')).toBe(1);
  expect(await service.metric('transcription_process_restarts_total{half="api"}')).toBe(0);
  const startedAt = (await service.metric('process_start_time_seconds'))!;
  expect(Math.abs(startedAt - Date.now() / 1000)).toBeLessThan(3_600);
  expect(await service.metric('process_resident_memory_bytes')).toBeGreaterThan(3 * 30_000_000);
  leave(kept);
});

test(
  'an allowance of 30 and 60 requests to both → 30 are admitted',
  withinAMinute(beside, async () => {
    const { key } = await makeAccount(beside.db, { limits: { requests_per_minute: 30 } });
    const kept = connections(6, key);
    const statuses: number[] = [];
    for (let round = 0; round < 10; round += 1)
      statuses.push(...(await Promise.all(kept.map((one) => one.get('/v1/sessions')))).map((answer) => answer!.status));
    expect(statuses.filter((status) => status === 200)).toHaveLength(30);
    expect(statuses.filter((status) => status === 429)).toHaveLength(30);
    leave(kept);
  }),
);

test('uploads to both while two more sessions may wait → two are accepted, whichever process received them', async () => {
  const { key, id } = await makeAccount(beside.db, { limits: { queued_sessions: 2 } });
  const body = Buffer.concat([filePart(await tone(500)), closing]);
  const headers = { Authorization: `Bearer ${key}`, 'Content-Length': body.length, Expect: '100-continue' };
  const uploads: RawUpload[] = [];
  // Each process lets two in, and knows nothing of the other's. One after the other, so that they are dealt out in turn.
  for (let i = 0; i < 4; i += 1) uploads.push(await new RawUpload(service.port).head(headers).until(/100 Continue/));
  const answers = await Promise.all(uploads.map((one) => one.send(body).answer()));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 202, 429, 429]);
  const queued = await beside.db.selectFrom('sessions').select('id').where('account_id', '=', id).execute();
  expect(queued).toHaveLength(2);
  for (const { socket } of uploads) socket.destroy();
});

test('wrong keys from one address → each process answers its number of them at once', async () => {
  const kept = connections(2, newApiKey());
  for (const one of kept) for (let i = 0; i < 3; i += 1) expect((await one.get('/v1/sessions'))!.status).toBe(401);
  const delayed = 'transcription_delayed_auth_failures_total';
  expect(await service.metric(delayed)).toBe(0);
  const answers = await Promise.all(kept.map((one) => one.get('/v1/sessions')));
  expect(answers.map((answer) => [answer!.status, answer!.headers.connection])).toEqual([
    [401, 'close'],
    [401, 'close'],
  ]);
  expect(await service.metric(delayed)).toBe(2);
});

test('the database goes away and comes back → both are alive, and not ready meanwhile', async () => {
  expect(await service.ops('/readyz')).toEqual({ status: 200, text: 'ready\n' });
  await relay.cut();
  expect(await service.ops('/readyz')).toEqual({ status: 503, text: 'the database can not be reached\n' });
  expect(await service.ops('/healthz')).toEqual({ status: 200, text: 'ok\n' });
  expect(await service.metric('transcription_oldest_queued_seconds')).toBeUndefined();
  await relay.mend();
  await until(async () => (await service.ops('/readyz')).status === 200);
});

test('a process is killed → its clients lose their connections, others are answered, another one comes', async () => {
  const { key } = await makeAccount(beside.db);
  const [victim, survivor] = service.children('api') as [number, number];
  const kept = connections(2, key);
  const owners = await Promise.all(kept.map(async (one) => processOf(service, (await one.get('/v1/sessions'))!)));
  const counted = (await service.metric(listed(200)))!;
  process.kill(victim, 'SIGKILL');
  await until(() => kept[owners.indexOf(victim)]!.isClosed);
  expect((await kept[owners.indexOf(survivor)]!.get('/v1/sessions'))!.status).toBe(200);
  // All that ask now are answered, whether the other one is back or not.
  const asked = connections(10, key);
  const answers = await Promise.all(asked.map((one) => one.get('/v1/sessions')));
  expect(answers.map((answer) => answer!.status)).toEqual(Array(10).fill(200));
  await until(() => service.children('api').length === 2);
  await until(async () => (await service.ops('/readyz')).text === 'ready\n');
  expect(service.children('api')).not.toContain(victim);
  // What the dead one had shown still counts.
  expect(await service.metric(listed(200))).toBe(counted + 11);
  expect(await service.metric('transcription_process_restarts_total{half="api"}')).toBe(1);
  const told = service.lines.find((line) => line.includes('is started again'))!;
  expect(JSON.parse(told)).toMatchObject({ half: 'api', childPid: victim, signal: 'SIGKILL', pauseMs: 250 });
  leave([...kept, ...asked]);
});

test('a process is killed while its master has no descriptor left → tried again until there is one', async () => {
  const mayOpen = (count: number) => spawnSync('prlimit', [`--pid=${service.pid}`, `--nofile=${count}:`]).status;
  const [victim] = service.children('api') as [number];
  const restarts = (await service.metric('transcription_process_restarts_total{half="api"}'))!;
  // What is open stays open.
  expect(mayOpen(3)).toBe(0);
  process.kill(victim, 'SIGKILL');
  await until(() => service.lines.some((line) => line.includes('EMFILE')));
  expect(mayOpen(1_024)).toBe(0);
  await until(() => service.children('api').length === 2);
  await until(async () => (await service.ops('/readyz')).text === 'ready\n');
  const told = service.lines.filter((line) => line.includes('a process could not begin and is started again'));
  expect(JSON.parse(told[0]!)).toMatchObject({ half: 'api', err: { code: 'EMFILE' }, pauseMs: expect.any(Number) });
  // The one that was killed, and each that could not begin.
  expect(await service.metric('transcription_process_restarts_total{half="api"}')).toBe(restarts + 1 + told.length);
});

test('a process that stands still → not alive; the one connection that was dealt to it ends with it', async () => {
  const { key } = await makeAccount(beside.db);
  const [frozen] = service.children('api') as [number];
  process.kill(frozen, 'SIGSTOP');
  const kept = connections(4, key);
  const answers = kept.map((one) => one.get('/v1/sessions'));
  const isAnswered = answers.map(() => false);
  answers.forEach((answer, index) => void answer.then(() => (isAnswered[index] = true)));
  // It gets no second one before it has taken the first.
  await until(() => isAnswered.filter(Boolean).length === 3);
  const sentence = `the process ${frozen} (api) does not answer\n`;
  expect(await service.ops('/healthz')).toEqual({ status: 503, text: sentence });
  expect(await service.ops('/readyz')).toEqual({ status: 503, text: sentence });
  expect(isAnswered.filter(Boolean)).toHaveLength(3);
  process.kill(frozen, 'SIGKILL');
  expect((await Promise.all(answers)).filter((answer) => answer === undefined)).toHaveLength(1);
  await until(async () => (await service.ops('/readyz')).status === 200);
  leave(kept);
});
