/** Accounts take turns: what a light account waits for while a heavy one has many jobs waiting. */
import { sql } from 'kysely';
import { listLedger } from '../../../db/accounts/ledger.ts';
import { findSessionRow } from '../../../db/sessions/sessions.ts';
import { cancelSession, retrySession } from '../../../src/sessions/support.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { expectSound } from '../../support/service/audit.ts';
import { final, upload } from '../../support/service/jobs.ts';
import { useService } from '../../support/service/use-service.ts';
import { ScriptedRecognizer, gate, says } from '../../support/models/scripted-recognizer.ts';
import { ffmpeg, sine } from '../../support/uploads/audio-fixtures.ts';
import { until } from '../../support/until.ts';
import { useFolder } from '../../support/use-folder.ts';
import type { TestAccount } from '../../support/service/accounts.ts';

const env = { WORKER_CONCURRENCY: '1' };
const service = await useService({ env });
const second = await useService({ env, beside: service });
const tone = await ffmpeg(...sine(1), `${useFolder()}/tone.wav`);

let heavy: TestAccount;
let light: TestAccount;
beforeEach(async () => {
  [heavy, light] = [await makeAccount(service.db), await makeAccount(service.db)];
});
afterEach(async () => {
  await expectSound(service);
  const waiting = await service.db
    .selectFrom('sessions')
    .select(['account_id', 'id'])
    .where('status', '=', 'queued')
    .execute();
  for (const { account_id, id } of waiting) await cancelSession(service, account_id, id);
});

const uploads = async (account: TestAccount, count: number) => {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) ids.push((await upload(service, account, tone)).sessionId);
  return ids;
};
const charges = async ({ id }: TestAccount) =>
  (await listLedger(service.db, id)).filter(({ kind }) => kind === 'charge').map(({ amount_ms }) => amount_ms);
const allFinal = async (account: TestAccount, ids: string[]) => {
  for (const id of ids) expect(await final(service, account, id)).toMatchObject({ status: 'completed' });
};

test.each([1, 2])(
  '%i workers, 6 jobs of one account wait, another uploads one → that one is next, and each runs once',
  async (count) => {
    const busy = gate();
    const recognizer = new ScriptedRecognizer(async ({ options }) => {
      await busy.passed(options.signal);
      return says('in turn');
    });
    const theirs = await uploads(heavy, 6);
    const workers = await Promise.all([service, second].slice(0, count).map((one) => one.work(recognizer)));
    await until(() => recognizer.running(heavy.id) === count);
    const [ours] = await uploads(light, 1);
    busy.open();
    await allFinal(light, [ours!]);
    await allFinal(heavy, theirs);
    // Two workers may take a job each in the same moment.
    expect(recognizer.calls.findIndex(({ sessionId }) => sessionId === ours)).toBeLessThanOrEqual(2 * count - 1);
    expect([...theirs, ours!].map((id) => recognizer.of(id))).toEqual(Array(7).fill(1));
    if (count === 1)
      expect(recognizer.calls.map(({ sessionId }) => sessionId).filter((id) => id !== ours)).toEqual(theirs);
    await Promise.all(workers.map((worker) => worker.stop()));
  },
);

test('a job that is handed back → comes again where it was', async () => {
  const recognizer = new ScriptedRecognizer(async ({ options }) => {
    await gate().passed(options.signal);
    return says('never');
  });
  const [first, ...others] = await uploads(heavy, 3);
  const interrupted = await service.work(recognizer);
  await until(() => recognizer.of(first!) === 1);
  await interrupted.stop();
  const [ours] = await uploads(light, 1);
  const after = new ScriptedRecognizer();
  const worker = await service.work(after);
  await allFinal(light, [ours!]);
  await allFinal(heavy, [first!, ...others]);
  expect(after.calls.map(({ sessionId }) => sessionId)).toEqual([first, ours, ...others]);
  await worker.stop();
});

test('a job that the queue takes from a worker it has not heard of for too long → comes again where it was', async () => {
  const recognizer = new ScriptedRecognizer(async ({ options, earlier, sessionId }) => {
    if (sessionId === first && earlier === 0) await gate().passed(options.signal);
    return says('in turn');
  });
  const [first, ...others] = await uploads(heavy, 3);
  const worker = await service.work(recognizer);
  await until(() => recognizer.of(first!) === 1);
  const [ours] = await uploads(light, 1);
  await sql`update pgboss.job set state = 'retry', start_after = now() where data->>'sessionId' = ${first}`.execute(
    service.db,
  );
  await allFinal(light, [ours!]);
  await allFinal(heavy, [first!, ...others]);
  expect(recognizer.calls.map(({ sessionId }) => sessionId)).toEqual([first, first, ours, ...others]);
  expect(await Promise.all([heavy, light].map(charges))).toEqual([Array(3).fill(-1_000), [-1_000]]);
  await worker.stop();
});

test('a session that support retries → stands where a new upload would', async () => {
  await uploads(heavy, 3);
  const [lone] = await uploads(light, 2);
  expect(await cancelSession(service, light.id, lone!)).toEqual({ kind: 'canceled' });
  expect(await retrySession(service, light.id, lone!)).toEqual({ kind: 'queued' });
  const tagOf = async (id: string) => (await findSessionRow(service.db, light.id, id))!.start_tag;
  // Behind the account's other one.
  expect(await tagOf(lone!)).toBe(2);
});
