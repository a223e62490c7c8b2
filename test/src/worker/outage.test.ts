import { sql } from 'kysely';
import { listLedger } from '../../../db/ledger.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { audioFolder, ffmpeg, sine } from '../../support/uploads/audio-fixtures.ts';
import { expectSound } from '../../support/service/audit.ts';
import { eventually, final, upload } from '../../support/service/jobs.ts';
import { startRelay } from '../../support/faults/relay.ts';
import { ScriptedRecognizer, gate, says } from '../../support/models/scripted-recognizer.ts';
import { startTestService } from '../../support/service/service.ts';
import type { Relay } from '../../support/faults/relay.ts';
import type { TestService } from '../../support/service/service.ts';

let api: TestService;
/** The process with the worker, which reaches the database through the relay. */
let away: TestService;
let relay: Relay;
let folder: Awaited<ReturnType<typeof audioFolder>>;
beforeAll(async () => {
  [api, folder] = await Promise.all([startTestService(), audioFolder()]);
  relay = await startRelay(api.databaseUrl);
  away = await startTestService({ beside: api, env: { DATABASE_URL: relay.url } });
  await ffmpeg(...sine(2), `${folder.path}/tone.wav`);
});
afterEach(() => expectSound(api));
afterAll(async () => {
  await away.stop();
  await relay.close();
  await api.stop();
  await folder.remove();
});

test('the database is away for 6 s while a job runs → the same attempt completes, charged once', async () => {
  const account = await makeAccount(api.db, { balanceMs: 60_000 });
  const done = gate();
  const recognizer = new ScriptedRecognizer(async ({ options }) => {
    options.onProgress?.(10);
    await done.passed(options.signal);
    return says('still here');
  });
  const worker = await away.work(recognizer);
  const { sessionId } = await upload(api, account, `${folder.path}/tone.wav`);
  await eventually(
    'recognition',
    () => recognizer.calls.length,
    (calls) => calls === 1,
  );
  await relay.cut();
  // Longer than a heartbeat, so that at least one of them is missed.
  const cutAt = performance.now();
  const failures = () => away.logLines.filter((line) => /queue error|connection broke|ECONNREFUSED/.test(line)).length;
  await eventually(
    'the outage',
    () => ({ seconds: (performance.now() - cutAt) / 1000, failures: failures() }),
    ({ seconds, failures: count }) => seconds > 6 && count > 0,
  );
  await relay.mend();
  done.open();
  expect(await final(api, account, sessionId)).toMatchObject({ status: 'completed' });
  expect(recognizer.of(sessionId)).toBe(1);
  expect((await listLedger(api.db, account.id)).map((entry) => entry.amount_ms)).toEqual([60_000, -2_000]);

  const next = await upload(api, account, `${folder.path}/tone.wav`);
  expect(await final(api, account, next.sessionId)).toMatchObject({ status: 'completed' });
  await worker.stop();
}, 90_000);

test('the database is away just when the attempt ends → another attempt, charged once', async () => {
  const account = await makeAccount(api.db, { balanceMs: 60_000 });
  const done = gate();
  const recognizer = new ScriptedRecognizer(async ({ options }) => {
    await done.passed(options.signal);
    return says('again');
  });
  const worker = await away.work(recognizer);
  const { sessionId } = await upload(api, account, `${folder.path}/tone.wav`);
  await eventually(
    'recognition',
    () => recognizer.calls.length,
    (calls) => calls === 1,
  );
  const faults = () => away.logLines.filter((line) => line.includes('a job ended with a fault')).length;
  const before = faults();
  await relay.cut();
  done.open();
  await eventually('the fault', faults, (count) => count > before);
  await relay.mend();
  // As if its worker had been silent for longer than the queue allows.
  await sql`update pgboss.job set heartbeat_on = now() - interval '1 minute' where state = 'active'`.execute(api.db);
  expect(await final(api, account, sessionId, 60_000)).toMatchObject({ status: 'completed' });
  expect(recognizer.of(sessionId)).toBe(2);
  expect((await listLedger(api.db, account.id)).map((entry) => entry.amount_ms)).toEqual([60_000, -2_000]);
  await worker.stop();
}, 90_000);
