import { sql } from 'kysely';
import { listLedger } from '../../../db/accounts/ledger.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { ffmpeg, sine } from '../../support/uploads/audio-fixtures.ts';
import { expectSound } from '../../support/service/audit.ts';
import { final, row, upload } from '../../support/service/jobs.ts';
import { startRelay } from '../../support/faults/relay.ts';
import { ScriptedRecognizer, gate, says } from '../../support/models/scripted-recognizer.ts';
import { useService } from '../../support/service/use-service.ts';
import { useFolder } from '../../support/use-folder.ts';
import { until } from '../../support/until.ts';

const api = await useService();
const folder = useFolder();
await ffmpeg(...sine(2), `${folder}/tone.wav`);
const relay = await startRelay(api.databaseUrl);
/** The process with the worker, which reaches the database through the relay. */
const away = await useService({ beside: api, env: { DATABASE_URL: relay.url } });
afterEach(() => expectSound(api));

/** A job whose recognition waits. */
async function beginJob() {
  const account = await makeAccount(api.db, { balanceMs: 60_000 });
  const done = gate();
  const recognizer = new ScriptedRecognizer(async ({ options }) => {
    options.onProgress?.(10);
    await done.passed(options.signal);
    return says('still here');
  });
  const worker = await away.work(recognizer);
  const { sessionId } = await upload(api, account, `${folder}/tone.wav`);
  await until(
    () => recognizer.calls.length,
    (calls) => calls === 1,
  );
  return { account, done, recognizer, worker, sessionId };
}

test('the database is away for 6 s while a job runs → the same attempt completes, charged once', async () => {
  const { account, done, recognizer, worker, sessionId } = await beginJob();
  relay.cut();
  // Longer than a heartbeat takes to be refreshed, so that at least one of them is missed.
  const cutAt = performance.now();
  const failures = () => away.logLines.filter((line) => /queue error|connection broke|ECONNREFUSED/.test(line)).length;
  await until(
    () => ({ seconds: (performance.now() - cutAt) / 1000, failures: failures() }),
    ({ seconds, failures: count }) => seconds > 6 && count > 0,
  );
  await relay.mend();
  done.open();
  expect(await final(api, account, sessionId)).toMatchObject({ status: 'completed' });
  expect(recognizer.of(sessionId)).toBe(1);
  expect((await listLedger(api.db, account.id)).map((entry) => entry.amount_ms)).toEqual([60_000, -2_000]);

  const next = await upload(api, account, `${folder}/tone.wav`);
  expect(await final(api, account, next.sessionId)).toMatchObject({ status: 'completed' });
  await worker.stop();
});

test('the database is away just when the attempt ends → another attempt, charged once', async () => {
  const { account, done, recognizer, worker, sessionId } = await beginJob();
  const faults = () => away.logLines.filter((line) => line.includes('can not be recorded yet')).length;
  const before = faults();
  relay.cut();
  done.open();
  await until(faults, (count) => count > before);
  await relay.mend();
  expect(await final(api, account, sessionId)).toMatchObject({ status: 'completed' });
  expect(recognizer.of(sessionId)).toBe(2);
  expect(await row(api, account, sessionId)).toMatchObject({ attempts_left: 2 });
  expect((await listLedger(api.db, account.id)).map((entry) => entry.amount_ms)).toEqual([60_000, -2_000]);
  await worker.stop();
});

test('a worker falls silent in the last attempt → another worker goes on; where no free attempt is left, the session fails', async () => {
  const account = await makeAccount(api.db, { balanceMs: 60_000 });
  const never = gate();
  const recognizer = new ScriptedRecognizer(async ({ options }) => {
    await never.passed(options.signal);
    return says('nothing');
  });
  const [goesOn, fails] = [
    await upload(api, account, `${folder}/tone.wav`),
    await upload(api, account, `${folder}/tone.wav`),
  ];
  await sql`update sessions set attempts_left = 1, free_attempts = case when id = ${fails.sessionId} then 5 else 0 end
    where account_id = ${account.id}`.execute(api.db);
  const silent = await away.work(recognizer);
  for (const { sessionId } of [goesOn, fails]) await until(() => recognizer.of(sessionId));
  relay.cut();
  const other = await api.work(new ScriptedRecognizer());
  expect(await final(api, account, fails.sessionId)).toMatchObject({ status: 'failed' });
  expect(await final(api, account, goesOn.sessionId)).toMatchObject({ status: 'completed' });
  expect((await listLedger(api.db, account.id)).map((entry) => entry.amount_ms)).toEqual([60_000, -2_000]);
  await relay.mend();
  await Promise.all([silent.stop(), other.stop()]);
});
