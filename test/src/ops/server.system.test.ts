/** The port for operators. What it says when the database is away: test/service/outage.system.test.ts. */
import { steadyPort } from '../../rig/ports.ts';
import { startProcess } from '../../support/service/processes.ts';
import { makeSession } from '../../support/service/sessions.ts';
import { useAccount, useService } from '../../support/service/use-service.ts';
import { until } from '../../support/until.ts';

const beside = await useService();
const account = await useAccount(beside);
const { id: sessionId } = await makeSession(beside.db, account.id, { status: 'processing', title: 'Private title' });
const opsPort = String(await steadyPort());
const env = { DATABASE_URL: beside.databaseUrl, DATA_DIR: beside.dataDir, OPS_PORT: opsPort };
const { url, lines } = await startProcess('start-api', env);

async function ask(path: string, key?: string) {
  const headers = key === undefined ? {} : { Authorization: `Bearer ${key}` };
  const answer = await fetch(`${path.startsWith('/v1') ? url : `http://127.0.0.1:${opsPort}`}${path}`, { headers });
  return { status: answer.status, headers: Object.fromEntries(answer.headers), text: await answer.text() };
}

test.each([
  ['/healthz', 200, 'ok\n'],
  ['/readyz', 200, 'ready\n'],
  ['/healthz?verbose=1', 200, 'ok\n'],
  ['/__proto__', 404, 'There are /healthz, /readyz and /metrics here.\n'],
  ['/sessions', 404, 'There are /healthz, /readyz and /metrics here.\n'],
])('the ops port, %s → %i', async (path, status, text) => {
  expect(await ask(path)).toMatchObject({ status, text, headers: { 'cache-control': 'no-store' } });
});

test('/metrics after some requests → counts by operation, status and code, the queue; nothing of a customer, nor in the log', async () => {
  await ask('/v1/sessions', account.key);
  await ask('/v1/sessions?page=1', account.key);
  await ask('/v1/sessions');
  await ask('/v1/nothing');
  const wanted = [
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
  ];
  const missing: string[] = [];
  // The queue is counted by one process for all, at most every 15 s.
  const { status, headers, text } = await until(
    () => ask('/metrics'),
    ({ text }) => {
      const shown = text.split('\n');
      missing.splice(0, Infinity, ...wanted.filter((line) => !shown.includes(line)));
      return missing.length === 0;
    },
    40_000,
  ).catch((error: unknown) => {
    throw new Error(`missing: ${missing.join(', ')}`, { cause: error });
  });
  expect(status).toBe(200);
  expect(headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
  for (const name of ['transcription_job_seconds', 'transcription_real_time_factor', 'process_cpu_seconds_total']) {
    expect(text).toContain(`# TYPE ${name} `);
  }
  expect(text).not.toMatch(new RegExp(`${account.id}|${sessionId}|Private|tsk_`));
  for (const line of lines) expect(JSON.parse(line)).toHaveProperty('level');
  expect(lines.join('')).not.toMatch(/unhandled|tsk_|page=|Private/i);
});
