/** The API as a process of its own, seen by its operators, while its database goes away and comes back. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { steadyPort } from '../../rig/ports.ts';
import { atEnd } from '../../support/at-end.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { assertConforms } from '../../support/clients/contract.ts';
import { startRelay } from '../../support/faults/relay.ts';
import { useAccount, useService } from '../../support/service/use-service.ts';
import { makeSession } from '../../support/service/sessions.ts';
import { until } from '../../support/until.ts';
import type { ChildProcess } from 'node:child_process';
import type { Relay } from '../../support/faults/relay.ts';

let relay: Relay;
let sessionId: string;
let child: ChildProcess;
let api: string;
let ops: string;
const lines: string[] = [];

const beside = await useService();
const account = await useAccount(beside);
beforeAll(async () => {
  sessionId = (await makeSession(beside.db, account.id, { status: 'processing', title: 'Private title' })).id;
  relay = await startRelay(beside.databaseUrl);
  atEnd(relay.close);
  const opsPort = await steadyPort();
  ops = `http://127.0.0.1:${opsPort}`;

  child = spawn(process.execPath, [fileURLToPath(new URL('../../../src/start-api.ts', import.meta.url))], {
    env: {
      ...{ PATH: process.env.PATH, PORT: '0', OPS_PORT: String(opsPort), DATABASE_URL: relay.url },
      DATA_DIR: beside.dataDir,
    },
  });
  atEnd(() => child.kill('SIGKILL'));
  for (const stream of [child.stdout!, child.stderr!]) {
    createInterface({ input: stream }).on('line', (line) => lines.push(line));
  }
  await until(() => lines.some((line) => line.includes('"api answers"')));
  const { port } = JSON.parse(lines.find((line) => line.includes('"api answers"'))!) as { port: number };
  api = `http://127.0.0.1:${port}`;
});

async function ask(path: string, key?: string) {
  const headers = key === undefined ? {} : { Authorization: `Bearer ${key}` };
  const answer = await fetch(`${path.startsWith('/v1') ? api : ops}${path}`, { headers });
  const seen = { status: answer.status, headers: Object.fromEntries(answer.headers), text: await answer.text() };
  if (path.startsWith('/v1')) assertConforms({ method: 'GET', path, ...seen });
  return seen;
}

test.each([
  ['/healthz', 200, 'ok\n'],
  ['/readyz', 200, 'ready\n'],
  ['/healthz?verbose=1', 200, 'ok\n'],
  ['/', 404, 'There are /healthz, /readyz and /metrics here.\n'],
  ['/__proto__', 404, 'There are /healthz, /readyz and /metrics here.\n'],
  ['/sessions', 404, 'There are /healthz, /readyz and /metrics here.\n'],
])('the ops port, %s → %i', async (path, status, text) => {
  expect(await ask(path)).toMatchObject({ status, text, headers: { 'cache-control': 'no-store' } });
});

test('/metrics after some requests → counts by operation, status and code, the queue, and nothing of a customer', async () => {
  await ask('/v1/sessions', account.key);
  await ask('/v1/sessions?page=1', account.key);
  await ask('/v1/sessions');
  await ask('/v1/nothing');
  const { status, headers, text } = await ask('/metrics');
  expect(status).toBe(200);
  expect(headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
  const metrics = text.split('\n');
  expect(metrics).toEqual(
    expect.arrayContaining([
      'transcription_requests_total{operation="listSessions",status="200"} 1',
      'transcription_requests_total{operation="listSessions",status="400"} 1',
      'transcription_requests_total{operation="listSessions",status="401"} 1',
      'transcription_requests_total{operation="none",status="404"} 1',
      'transcription_refusals_total{code="invalid_request"} 1',
      'transcription_refusals_total{code="unauthorized"} 1',
      'transcription_delayed_auth_failures_total 0',
      'transcription_sessions{status="queued"} 0',
      'transcription_sessions{status="processing"} 1',
      'transcription_oldest_queued_seconds 0',
    ]),
  );
  for (const name of ['transcription_job_seconds', 'transcription_real_time_factor', 'process_cpu_seconds_total']) {
    expect(text).toContain(`# TYPE ${name} `);
  }
  expect(text).not.toMatch(new RegExp(`${account.id}|${sessionId}|Private|tsk_`));
});

test('the database goes away and comes back → 503 and not ready, then as before, without a restart', async () => {
  const paths = ['/v1/sessions', `/v1/sessions/${sessionId}`, `/v1/sessions/${sessionId}/transcript?wait=30`];
  for (const path of paths.slice(0, 2)) expect((await ask(path, account.key)).status).toBe(200);

  await relay.cut();
  for (const path of paths) {
    const { status, headers, text } = await ask(path, account.key);
    expect(status).toBe(503);
    expect(headers['retry-after']).toBe('5');
    expect(JSON.parse(text)).toMatchObject({ code: 'unavailable', retryAfterSeconds: 5 });
    expect(text).not.toMatch(/ECONN|127\.0\.0\.1|postgres|\bpg\b/i);
  }
  expect((await ask('/healthz')).status).toBe(200);
  expect(await ask('/readyz')).toMatchObject({ status: 503, text: 'the database can not be reached\n' });
  // What needs no database still answers.
  expect((await ask('/v1/openapi.json')).status).toBe(200);
  expect((await ask('/v1/nothing')).status).toBe(404);
  expect((await ask('/v1/sessions', 'secret')).status).toBe(401);

  await relay.mend();
  await until(async () => (await ask('/readyz')).status === 200);
  for (const path of paths.slice(0, 2)) expect((await ask(path, account.key)).status).toBe(200);
  const fresh = await makeAccount(beside.db);
  expect((await ask('/v1/sessions', fresh.key)).status).toBe(200);
});

test('all the while → the same process, and only lines of JSON without keys, queries and titles', async () => {
  expect(child.exitCode).toBeNull();
  for (const line of lines) expect(JSON.parse(line)).toHaveProperty('level');
  expect(lines.join('')).not.toMatch(/unhandled|tsk_|page=|Private/i);
});

test('SIGTERM while a client waits → it is answered, the process ends with 0', async () => {
  const from = (await beside.get('/v1/sessions', account.key)).headers.ratelimit as string;
  const answer = ask(`/v1/sessions/${sessionId}/transcript?wait=30`, account.key);
  const remaining = (header: string) => Number(/r=(\d+)/.exec(header)![1]);
  // Counted, and so received, as soon as more is gone than these questions themselves take.
  let asked = 0;
  await until(async () => {
    asked += 1;
    const now = remaining((await beside.get('/v1/sessions', account.key)).headers.ratelimit as string);
    return now < remaining(from) - asked || now > remaining(from);
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  expect((await answer).status).toBe(200);
  expect(lines.some((line) => line.includes('"stopped"'))).toBe(true);
});
