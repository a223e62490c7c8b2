import { sql } from 'kysely';
import { listLedger } from '../../../db/accounts/ledger.ts';
import { findSegments } from '../../../db/sessions/transcripts.ts';
import { cancelSession, eraseSession } from '../../../src/sessions/support.ts';
import { sweep } from '../../../src/worker/sweeps.ts';
import { claimJob } from '../../../src/worker/attempt.ts';
import { RecognizerError } from '../../../src/recognizers/recognizer.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { ffmpeg, sine } from '../../support/uploads/audio-fixtures.ts';
import { expectSound } from '../../support/service/audit.ts';
import { final, hurryRetries, jobsOf, row, upload } from '../../support/service/jobs.ts';
import { ScriptedRecognizer, gate, says } from '../../support/models/scripted-recognizer.ts';
import { useService } from '../../support/service/use-service.ts';
import { useFolder } from '../../support/use-folder.ts';
import { until } from '../../support/until.ts';
import type { TestAccount } from '../../support/service/accounts.ts';
import type { Gate } from '../../support/models/scripted-recognizer.ts';
import type { Worker } from '../../../src/worker/worker.ts';

const segmentsOf = (id: string) => findSegments(service.db, account.id, id);

let tone: string;
let account: TestAccount;
let worker: Worker;
let recognizer: ScriptedRecognizer;
/** Where the first recognition waits. */
let first: Gate;
/** Where later ones wait. */
let second: Gate;
/** What the first recognition does then. */
let outcome: () => ReturnType<typeof says>;
let sessionId: string;
let queueJobId: string;

const service = await useService({ env: { WORKER_CONCURRENCY: '2' } });
const folder = useFolder();
beforeAll(async () => {
  tone = await ffmpeg(...sine(2), `${folder}/tone.wav`);
});
beforeEach(async () => {
  account = await makeAccount(service.db, { balanceMs: 60_000 });
  [first, second] = [gate(), gate()];
  outcome = () => says('stale words');
  recognizer = new ScriptedRecognizer(async ({ earlier, options }) => {
    await (earlier > 0 ? second : first).passed(options.signal);
    return earlier > 0 ? says('fresh words') : outcome();
  });
  worker = await service.work(recognizer);
  ({ sessionId } = await upload(service, account, tone));
  await until(() => recognizer.calls.length === 1);
  queueJobId = (await row(service, account, sessionId)).queue_job_id;
});
afterEach(async () => {
  first.open();
  second.open();
  await worker.stop();
  await expectSound(service);
});

const outcomes = () => service.logLines.filter((line) => line.includes(sessionId) && line.includes('attempt ended'));
/** Lets the first recognition end, and waits until its attempt has. */
async function endFirst(): Promise<void> {
  first.open();
  await until(outcomes, (lines) => lines.some((line) => line.includes('"attempt":1,')));
}
const amounts = async () => (await listLedger(service.db, account.id)).map((entry) => entry.amount_ms);
const reservedMs = async () =>
  (await service.db.selectFrom('accounts').select('reserved_ms').where('id', '=', account.id).executeTakeFirst())!
    .reserved_ms;
/** What the queue does when it has heard nothing from a worker for too long. */
const takeJobAway = async () => {
  await sql`update pgboss.job set state = 'retry', start_after = now() + interval '1 hour'
    where id = ${queueJobId}`.execute(service.db);
  await hurryRetries(service);
};
test.each<[string, () => ReturnType<typeof says>]>([
  ['words', () => says('stale words')],
  [
    'a final error',
    () => {
      throw new RecognizerError('recognizer_error', 'too late', { retryable: false });
    },
  ],
])(
  'the queue gave the job to another attempt, and the first ends with %s → only the other is stored and charged',
  async (_, ends) => {
    outcome = ends;
    await takeJobAway();
    await until(() => recognizer.calls.length === 2);
    await endFirst();
    expect(await row(service, account, sessionId)).toMatchObject({
      status: 'processing',
      attempt: 2,
      reserved_ms: 2_000,
    });
    second.open();
    expect((await final(service, account, sessionId)).segments.map(({ text }) => text)).toEqual(['fresh words']);
    expect(await segmentsOf(sessionId)).toContain('fresh words');
    expect(await amounts()).toEqual([60_000, -2_000]);
  },
);

test('the queue took the last attempt that was left, free ones too → the session fails, uncharged', async () => {
  await sql`update sessions set attempts_left = 0, infrastructure_retries = 5, last_error_code = 'timed_out'
    where id = ${sessionId}`.execute(service.db);
  await takeJobAway();
  const failed = await final(service, account, sessionId);
  expect(failed).toMatchObject({ status: 'failed', error: { code: 'timed_out' } });
  expect(recognizer.calls).toHaveLength(1);
  expect(await amounts()).toEqual([60_000]);
  expect(await reservedMs()).toBe(0);
});

test('the job is gone when the attempt completes → all rolled back; the sweep sends another, charged once', async () => {
  await sql`delete from pgboss.job where id = ${queueJobId}`.execute(service.db);
  await endFirst();
  expect(await row(service, account, sessionId)).toMatchObject({ status: 'processing', reserved_ms: 2_000 });
  expect(await amounts()).toEqual([60_000]);

  second.open();
  await sweep({ ...service, stopping: new AbortController().signal });
  expect(await final(service, account, sessionId)).toMatchObject({ status: 'completed' });
  expect(await amounts()).toEqual([60_000, -2_000]);
  expect((await jobsOf(service, sessionId)).map(({ id }) => id)).not.toContain(queueJobId);
});

test('canceled meanwhile → recognition is aborted, the session stays as it was canceled, nothing is charged', async () => {
  expect(await cancelSession(service, account.id, sessionId)).toEqual({ kind: 'canceled' });
  await until(() => recognizer.calls[0]!.options.signal.aborted);
  await until(() => outcomes().length === 1);
  expect(await row(service, account, sessionId)).toMatchObject({ status: 'failed', error_code: 'canceled' });
  expect(await amounts()).toEqual([60_000]);
  expect(await reservedMs()).toBe(0);
});

test('deleted meanwhile → nothing comes back, nothing is charged, the reservation stays released', async () => {
  expect(await eraseSession(service, account.id, sessionId)).toMatchObject({ kind: 'erased' });
  await endFirst();
  expect(await row(service, account, sessionId)).toBeUndefined();
  expect(await segmentsOf(sessionId)).toBeUndefined();
  expect(await amounts()).toEqual([60_000]);
  expect(await reservedMs()).toBe(0);
});

test('a worker that was frozen before its claim, and whose job another attempt holds → claims nothing and fails nothing', async () => {
  const data = { accountId: account.id, sessionId };
  // The attempt that holds the job now was fetched after it.
  await sql`update pgboss.job set retry_count = 1 where id = ${queueJobId}`.execute(service.db);
  const { signal } = new AbortController();
  const job = { id: queueJobId, data, retryCount: 0, expireInSeconds: 60, signal };
  await sql`update sessions set attempts_left = 0, infrastructure_retries = 5 where id = ${sessionId}`.execute(
    service.db,
  );
  const before = await row(service, account, sessionId);
  expect(await claimJob(job, service)).toBeUndefined();
  expect(await row(service, account, sessionId)).toEqual(before);
  await sql`update pgboss.job set retry_count = 0 where id = ${queueJobId}`.execute(service.db);
  await endFirst();
  expect(await final(service, account, sessionId)).toMatchObject({ status: 'completed' });
  expect(await amounts()).toEqual([60_000, -2_000]);
});
