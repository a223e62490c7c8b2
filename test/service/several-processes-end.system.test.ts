/** API_PROCESSES=2 with a worker: how all of them begin and end. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { openDatabase } from '../../db/database.ts';
import { joinEmbeddedPostgres } from '../../db/embedded/embedded-postgres.ts';
import { listen } from '../../src/listening.ts';
import { atEnd } from '../support/at-end.ts';
import { clientOf } from '../support/clients/client.ts';
import { startHelloServer } from '../support/models/hello-server.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { expectSound } from '../support/service/audit.ts';
import { createTestDatabase } from '../support/service/database.ts';
import { killLeftovers, processesAbout } from '../support/service/processes.ts';
import { startSeveral } from '../support/service/several-processes.ts';
import { RawUpload } from '../support/uploads/raw-upload.ts';
import { closing, filePart, voice } from '../support/uploads/uploads.ts';
import { until } from '../support/until.ts';
import type { SeveralProcesses } from '../support/service/several-processes.ts';

afterAll(killLeftovers);

async function lay() {
  const { url, drop } = await createTestDatabase();
  atEnd(drop);
  const { db, close } = openDatabase(url, () => {});
  atEnd(close);
  const dataDir = await mkdtemp(join(process.env.TEST_FOLDER!, 'several-'));
  const hello = await startHelloServer();
  const env = { DATABASE_URL: url, DATA_DIR: dataDir, PATH: process.env.PATH!, ...hello.env };
  return { db, dataDir, env, account: await makeAccount(db) };
}

/** Half of an upload, which its process waits for. */
async function halfAnUpload(service: SeveralProcesses, key: string) {
  const body = Buffer.concat([filePart(await voice(2_000)), closing]);
  const half = body.length >> 1;
  const sender = new RawUpload(service.port);
  sender.head({ Authorization: `Bearer ${key}`, 'Content-Length': body.length, Expect: '100-continue' });
  await sender.until(/100 Continue/);
  sender.send(body.subarray(0, half));
  return { sender, finish: () => sender.send(body.subarray(half)).answer() };
}

const everyPid = (service: SeveralProcesses) => [
  ...[service.pid, ...service.children('api'), ...service.children('worker')],
];
const isAlive = (pid: number) => processesAbout('start').includes(pid);

test('SIGTERM to the master while uploads are under way → they end well, all stop, exit 0, no process is left', async () => {
  const { db, dataDir, env, account } = await lay();
  const service = await startSeveral('start', env);
  const uploads = await Promise.all([1, 2].map(() => halfAnUpload(service, account.key)));
  const pids = everyPid(service);
  expect(pids).toHaveLength(4);
  process.kill(service.pid, 'SIGTERM');
  await until(() => service.lines.filter((line) => line.includes('"stopping"')).length === 4);
  const answers = await Promise.all(uploads.map(({ finish }) => finish()));
  expect(answers.map(({ status, headers }) => [status, headers.connection])).toEqual([
    [202, 'close'],
    [202, 'close'],
  ]);
  expect(await service.ended).toBe(0);
  expect(pids.filter(isAlive)).toEqual([]);
  expect(service.lines.filter((line) => line.includes('"stopped"'))).toHaveLength(4);
  expect(service.lines.join('\n')).not.toMatch(/unhandled|could not stop|started again/i);
  await expectSound({ db, dataDir });
});

test('^C, which reaches every process → the same', async () => {
  const { env } = await lay();
  const service = await startSeveral('start', env);
  const pids = everyPid(service);
  process.kill(-service.pid, 'SIGINT');
  expect(await service.ended).toBe(0);
  expect(pids.filter(isAlive)).toEqual([]);
  expect(service.lines.join('\n')).not.toContain('started again');
});

test('the worker is killed → not ready until there is another one, which takes jobs', async () => {
  const { env, account, dataDir } = await lay();
  const service = await startSeveral('start', env);
  const [victim] = service.children('worker') as [number];
  process.kill(victim, 'SIGKILL');
  await until(
    async () => (await service.ops('/readyz')).text === 'no process (worker) is there: it is started again\n',
  );
  await until(async () => (await service.ops('/readyz')).text === 'ready\n');
  const file = join(dataDir, 'voice.wav');
  await writeFile(file, await voice(500));
  const client = clientOf(service.url, account.key);
  const { sessionId } = JSON.parse((await client.upload(file)).text) as { sessionId: string };
  expect(await client.final(sessionId)).toMatchObject({ status: 'completed' });
  expect(await service.metric('transcription_process_restarts_total{half="worker"}')).toBe(1);
  expect(await service.metric('transcription_job_seconds_count{outcome="completed"}')).toBe(1);
  process.kill(service.pid, 'SIGTERM');
  expect(await service.ended).toBe(0);
});

test('kill -9 of the master, on the embedded PostgreSQL → what is under way ends well, and nothing is left', async () => {
  const dataDir = await mkdtemp(join(process.env.TEST_FOLDER!, 'several-'));
  const service = await startSeveral('start-api', { DATA_DIR: dataDir });
  const admin = await joinEmbeddedPostgres({ folder: join(dataDir, 'postgres') });
  const { db, close } = openDatabase(admin.url, () => {});
  const { key } = await makeAccount(db);
  await close();
  await admin.leave();
  const { finish } = await halfAnUpload(service, key);
  const pids = everyPid(service);
  process.kill(service.pid, 'SIGKILL');
  await until(() => service.lines.filter((line) => line.includes('the master is gone')).length === 2);
  expect(await finish()).toMatchObject({ status: 202 });
  await until(() => pids.filter(isAlive).length === 0);
  // The last of its users has stopped PostgreSQL.
  await until(() => processesAbout(dataDir).length === 0);
});

test('the port is taken → one sentence that names PORT, exit code 1, and no process is left', async () => {
  const { env, dataDir } = await lay();
  const taken = createServer();
  const port = await listen(taken, 0, '127.0.0.1', 'PORT');
  atEnd(() => taken.close());
  const { status, stdout } = spawnSync(process.execPath, ['src/start.ts'], {
    env: { ...env, API_PROCESSES: '2', PORT: String(port), OPS_PORT: '0' },
    cwd: join(import.meta.dirname, '../..'),
    encoding: 'utf8',
  });
  expect(status).toBe(1);
  expect(stdout.split('\n').filter((line) => line.includes('is taken. Set PORT to another one'))).toHaveLength(1);
  expect(stdout).not.toContain('worker takes jobs');
  expect(processesAbout(dataDir)).toEqual([]);
});

test('what never worked is not started again: the worker does not know its language → exit code 1', async () => {
  const { env } = await lay();
  const options = {
    API_PROCESSES: '2',
    PORT: '0',
    OPS_PORT: '0',
    RECOGNIZER: 'sherpa-onnx',
    RECOGNIZER_LANGUAGE: 'de',
  };
  const { status, stdout } = spawnSync(process.execPath, ['src/start.ts'], {
    env: { ...env, ...options },
    cwd: join(import.meta.dirname, '../..'),
    encoding: 'utf8',
  });
  expect(status).toBe(1);
  expect(stdout).toContain('RECOGNIZER_LANGUAGE');
  expect(stdout).toContain('a process (worker) could not start');
  expect(stdout).not.toContain('is started again');
});
