import { sql } from 'kysely';
import { eraseSession } from '../../../src/sessions/support.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { ffmpeg, sine } from '../../support/uploads/audio-fixtures.ts';
import { expectSound } from '../../support/service/audit.ts';
import { final, jobsOf, row, upload } from '../../support/service/jobs.ts';
import { ScriptedRecognizer, gate, says } from '../../support/models/scripted-recognizer.ts';
import { useService } from '../../support/service/use-service.ts';
import { useFolder } from '../../support/use-folder.ts';
import { until } from '../../support/until.ts';
import { jest } from '../../support/run/jest.ts';
import { holdTheClock } from '../../support/faults/held-clock.ts';
import type { Worker } from '../../../src/worker/worker.ts';

const env = { WORKER_CONCURRENCY: '3' };
const first = await useService({ env });
const services = [first, await useService({ env, beside: first })] as const;
const folder = useFolder();
let tone: string;
let workers: Worker[] = [];
beforeAll(async () => {
  tone = await ffmpeg(...sine(0.2), `${folder}/tone.wav`);
});
afterEach(async () => {
  jest.useRealTimers();
  await Promise.all(workers.map((worker) => worker.stop()));
  workers = [];
  await expectSound(services[0]);
});

/** A worker in each of the two processes. */
const workInBoth = async (recognizer: ScriptedRecognizer) => {
  workers = await Promise.all(services.map((service) => service.work(recognizer)));
};
const times = <T>(count: number, make: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => make(i)));
const reaches = (read: () => number, count: number) => until(read, (value) => value === count);

test('12 jobs, two APIs and two workers on one database → each job runs exactly once, both workers take part', async () => {
  const account = await makeAccount(services[0].db);
  const busy = gate();
  const recognizer = new ScriptedRecognizer(async ({ options }) => {
    await busy.passed(options.signal);
    return says('once');
  });
  await workInBoth(recognizer);
  const sessions = await times(12, (i) => upload(services[i % 2]!, account, tone));
  await reaches(() => recognizer.running(account.id), 6);
  busy.open();
  for (const { sessionId } of sessions) {
    expect(await final(services[0], account, sessionId)).toMatchObject({ status: 'completed' });
  }
  expect(sessions.map(({ sessionId }) => recognizer.of(sessionId))).toEqual(Array(12).fill(1));
  expect(recognizer.peaks.get(account.id)).toBe(6);
});

test('an account that may run one job at once → never two, while another account goes on beside it', async () => {
  const [narrow, wide] = await times(2, (i) =>
    makeAccount(services[0].db, { limits: { running_jobs: i === 0 ? 1 : 16 } }),
  );
  const first = gate();
  const recognizer = new ScriptedRecognizer(async ({ accountId, options }) => {
    if (accountId === narrow!.id && recognizer.calls.filter((call) => call.accountId === narrow!.id).length === 1)
      await first.passed(options.signal);
    return says('in turn');
  });
  const waiting = await times(5, () => upload(services[0], narrow!, tone));
  const passing = await times(5, () => upload(services[1], wide!, tone));
  await workInBoth(recognizer);
  await reaches(() => recognizer.running(narrow!.id), 1);
  for (const { sessionId } of passing) await final(services[1], wide!, sessionId);
  expect(recognizer.calls.filter((call) => call.accountId === narrow!.id)).toHaveLength(1);
  first.open();
  for (const { sessionId } of waiting) await final(services[0], narrow!, sessionId);
  expect(recognizer.peaks.get(narrow!.id)).toBe(1);
});

test('a job for idle workers → begins without their clock, each time', async () => {
  const account = await makeAccount(services[0].db);
  const recognizer = new ScriptedRecognizer();
  holdTheClock('timeouts', 'intervals');
  await workInBoth(recognizer);
  for (let i = 0; i < 5; i++) {
    const { sessionId } = await upload(services[i % 2]!, account, tone);
    expect(await final(services[1], account, sessionId)).toMatchObject({ status: 'completed' });
  }
});

test('more slots, then fewer → as many jobs run as there are slots when it looks', async () => {
  const account = await makeAccount(first.db);
  const sessions = await times(6, () => upload(first, account, tone));
  const ends: (() => void)[] = [];
  let slots = 1;
  const taking = first.queue.work(
    () => slots,
    () => new Promise((end) => void ends.push(end)),
  );
  const taken = (count: number) => reaches(() => ends.length, count);
  await taken(1);
  slots = 3;
  await taken(3);
  expect(taking.use).toEqual({ running: 3, places: 3 });
  slots = 1;
  ends[0]!();
  await until(() => taking.use.places === 1);
  ends[1]!();
  await reaches(() => taking.use.running, 1);
  expect(ends).toHaveLength(3);
  ends[2]!();
  await taken(4);
  const stopped = taking.stop();
  ends[3]!();
  await stopped;
  for (const { sessionId } of sessions) await eraseSession(first, account.id, sessionId);
});

test('a job fails before its session is claimed → it comes again, no attempt spent, and the queue is told nothing from inside', async () => {
  const account = await makeAccount(first.db);
  const { sessionId } = await upload(first, account, tone);
  const failing = first.queue.work(
    () => 1,
    async () => {
      throw new Error('secret words', { cause: new Error('secret cause') });
    },
  );
  const failed = await until(
    () => jobsOf(first, sessionId),
    ([job]) => job!.state === 'retry',
  );
  await failing.stop();
  const { rows } = await sql`select row_to_json(job)::text as row from pgboss.job where id = ${failed[0]!.id}`.execute(
    first.db,
  );
  expect(JSON.stringify(rows)).not.toContain('secret');
  expect(first.logLines.join('')).toContain('secret words');

  const recognizer = new ScriptedRecognizer();
  workers = [await services[1].work(recognizer)];
  expect(await final(first, account, sessionId)).toMatchObject({ status: 'completed' });
  expect(await row(first, account, sessionId)).toMatchObject({ attempt: 1, attempts_left: 2 });
  expect(await jobsOf(first, sessionId)).toMatchObject([{ id: failed[0]!.id, state: 'completed' }]);
});
