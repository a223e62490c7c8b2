/** Accounts take turns: what a light account waits for while a heavy one has many jobs waiting. */
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

const service = await useService({ env: { WORKER_CONCURRENCY: '1' } });
const folder = useFolder();
const tone = await ffmpeg(...sine(1), `${folder}/tone.wav`);
const eight = `${folder}/eight.wav`;

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
const allFinal = async (account: TestAccount, ids: string[]) => {
  for (const id of ids) expect(await final(service, account, id)).toMatchObject({ status: 'completed' });
};

test('a job that is handed back → comes again where it was, and another account’s only job is next', async () => {
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

test('sessions that support retries → each stands behind the one before, and another account goes between', async () => {
  const theirs = await uploads(heavy, 4);
  for (const id of theirs) expect(await cancelSession(service, heavy.id, id)).toEqual({ kind: 'canceled' });
  for (const id of theirs) expect(await retrySession(service, heavy.id, id)).toEqual({ kind: 'queued' });
  const busy = gate();
  const recognizer = new ScriptedRecognizer(async ({ sessionId, options }) => {
    if (sessionId === theirs[1]) await busy.passed(options.signal);
    return says('in turn');
  });
  const worker = await service.work(recognizer);
  await until(() => recognizer.of(theirs[1]!) === 1);
  const [ours] = await uploads(light, 1);
  busy.open();
  await allFinal(light, [ours!]);
  await allFinal(heavy, theirs);
  expect(recognizer.calls.map(({ sessionId }) => sessionId)).toEqual([...theirs.slice(0, 2), ours, ...theirs.slice(2)]);
  await worker.stop();
});

test('channels that are heard one by one → cost as many shares as there are', async () => {
  const tones = await ffmpeg(
    '-f',
    'lavfi',
    '-i',
    `aevalsrc='${Array(8).fill('sin(440*2*PI*t)').join('|')}':d=1`,
    eight,
  );
  const shareOf = async (channels: string) => {
    const account = await makeAccount(service.db, { limits: { running_jobs: 1 } });
    const request = service.post('/v1/transcriptions', account.key).field('channels', channels);
    await request.attach('file', tones).expect(202);
    await uploads(account, 1);
    const tags = service.db.selectFrom('sessions').select('start_tag').where('account_id', '=', account.id);
    const [first, next] = await tags.orderBy('created_at').execute();
    return next!.start_tag - first!.start_tag;
  };
  // A second of audio, in tenths, and one more.
  expect([await shareOf('mixed'), await shareOf('separate')]).toEqual([11, 81]);
});
