/** An orderly end, as every deployment brings one, in the middle of everything. */
import { mkdtemp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { listLedger } from '../../db/accounts/ledger.ts';
import { findSessionRow } from '../../db/sessions/sessions.ts';
import { expectSound } from '../support/service/audit.ts';
import { clientOf, sessionIn } from '../support/clients/client.ts';
import { startHelloServer } from '../support/models/hello-server.ts';
import { processesAbout } from '../rig/processes.ts';
import { startProcess } from '../support/service/processes.ts';
import { useDatabase } from '../support/service/use-database.ts';
import { parseAnswers } from '../support/clients/raw-http.ts';
import { RawUpload } from '../support/uploads/raw-upload.ts';
import { startRelay } from '../support/faults/relay.ts';
import { closing, filePart, voice } from '../support/uploads/uploads.ts';
import { until } from '../support/until.ts';
import { startWhole } from './whole-service.ts';
import type { ServiceProcess } from '../support/service/processes.ts';

/** Sends signals. Whatever does not end within the service's own bound ends with another exit code. */
async function stop(service: ServiceProcess, ...signals: NodeJS.Signals[]): Promise<void> {
  for (const signal of signals) process.kill(service.pid, signal);
  expect(await service.ended).toBe(0);
  expect(service.lines.join('\n')).not.toMatch(/unhandled|uncaught|could not stop/i);
}

test('SIGTERM during an upload, long polls and a job → what is in flight ends well, nothing new begins, exit 0', async () => {
  const { service, client, db, dataDir, account, file, go, env } = await startWhole(await useDatabase());
  const sessionId = await client.accepted(file);
  const session = () => findSessionRow(db, account.id, sessionId);
  await until(session, (row) => row?.status === 'processing');

  const polls = [1, 2, 3].map(() => client.get(`/v1/sessions/${sessionId}/transcript?wait=30`));
  const body = Buffer.concat([filePart(await voice(2_000)), closing]);
  const bearer = { Authorization: `Bearer ${account.key}` };
  const head = { ...bearer, 'Content-Length': body.length };
  const half = body.length >> 1;
  const [finishing, stalling] = [new RawUpload(service.port), new RawUpload(service.port)];
  for (const sender of [finishing, stalling]) sender.head(head).send(body.subarray(0, half));
  const idle = new RawUpload(service.port);
  const get = `GET /v1/sessions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${account.key}\r\n\r\n`;
  // In the middle of the head of its second request when the end begins.
  idle.send(get);
  await idle.until(/"items"/);
  idle.send(get.slice(0, 40));
  await until(
    () => readdir(join(dataDir, 'audio', 'incoming')),
    (files) => files.length === 2,
  );

  process.kill(service.pid, 'SIGTERM');
  for (const poll of await Promise.all(polls)) {
    expect([poll.status, poll.headers.connection]).toEqual([200, 'close']);
    expect(JSON.parse(poll.text)).toMatchObject({ status: expect.stringMatching(/processing|queued/) as string });
  }
  const refused = () => client.get('/v1/sessions').then(() => 'answered', String);
  await until(refused, (answer) => answer.includes('fetch failed'));
  idle.send(get.slice(40));
  await idle.until(/503/);
  await idle.ended;
  const last = parseAnswers(idle.received).at(-1)!;
  expect([last.status, last.headers.connection, last.headers['retry-after']]).toEqual([503, 'close', '5']);
  // Again and again, as impatient supervisors do.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.kill(service.pid, signal);

  finishing.send(body.subarray(half));
  const accepted = await finishing.answer();
  expect([accepted.status, accepted.headers.connection]).toEqual([202, 'close']);
  await stop(service);
  await stalling.ended;
  for (const { socket } of [idle, stalling, finishing]) socket.destroy();

  expect(await session()).toMatchObject({ status: 'queued', attempts_left: 3 });
  expect(await readdir(join(dataDir, 'audio', 'incoming'))).toEqual([]);
  expect(processesAbout(dataDir)).toEqual([]);
  await expectSound({ db, dataDir });

  go();
  const again = await startProcess('start', env);
  const next = clientOf(again.url, account.key);
  for (const id of [sessionId, sessionIn(accepted)])
    expect(await next.final(id)).toMatchObject({ status: 'completed' });
  expect((await listLedger(db, account.id)).map((entry) => entry.amount_ms)).toEqual([60_000, -2_000, -2_000]);
  // Nothing is under way.
  await stop(again, 'SIGINT');
  await expectSound({ db, dataDir });
});

test('SIGTERM during a job while the way to PostgreSQL swallows every packet → exit 1 when the bound is reached, the job comes again', async () => {
  const { url } = await useDatabase();
  const relay = await startRelay(url);
  const whole = await startWhole({ url, env: { DATABASE_URL: relay.url } });
  const { service, client, db, dataDir, account, file, go, env } = whole;
  const sessionId = await client.accepted(file);
  const session = () => findSessionRow(db, account.id, sessionId);
  await until(session, (row) => row?.status === 'processing');
  relay.swallow();
  process.kill(service.pid, 'SIGTERM');
  expect(await service.ended).toBe(1);
  expect(service.lines.join('\n')).not.toMatch(/unhandled|uncaught/i);
  expect(processesAbout(dataDir)).toEqual([]);

  go();
  const again = await startProcess('start', { ...env, DATABASE_URL: url });
  expect(await clientOf(again.url, account.key).final(sessionId)).toMatchObject({ status: 'completed' });
  expect((await listLedger(db, account.id)).map((entry) => entry.amount_ms)).toEqual([60_000, -2_000]);
  await stop(again, 'SIGTERM');
  await expectSound({ db, dataDir });
});

test('SIGTERM while it starts, at any moment → it ends within the bound, and the next start works', async () => {
  const dataDir = await mkdtemp(join(process.env.TEST_FOLDER!, 'sigterm-'));
  const hello = await startHelloServer();
  const env = { DATABASE_URL: (await useDatabase()).url, DATA_DIR: dataDir, ...hello.env };
  for (const moment of ['"children have', '"api answers"', '"worker takes jobs"']) {
    const service = await startProcess('start', env, moment);
    await stop(service, 'SIGTERM');
  }
  expect(processesAbout(dataDir)).toEqual([]);
});
