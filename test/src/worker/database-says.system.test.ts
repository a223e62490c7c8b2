/** Errors of the database that say nothing about a recording or a request. */
import { sql } from 'kysely';
import { whyNoDatabase } from '../../../db/connection/explained-faults.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { expectSound } from '../../support/service/audit.ts';
import { final, hurryRetries, row, upload } from '../../support/service/jobs.ts';
import { ScriptedRecognizer } from '../../support/models/scripted-recognizer.ts';
import { ffmpeg, sine } from '../../support/uploads/audio-fixtures.ts';
import { useService } from '../../support/service/use-service.ts';
import { useFolder } from '../../support/use-folder.ts';
import { until } from '../../support/until.ts';

const service = await useService();
const folder = useFolder();
const tone = `${folder}/tone.wav`;
beforeAll(async () => {
  await ffmpeg(...sine(1), tone);
});
afterEach(() => expectSound(service));

/** PostgreSQL answers with this SQLSTATE whenever something is put into the table. @returns ends it */
async function answers(state: string, table: 'transcripts' | 'sessions'): Promise<() => Promise<unknown>> {
  await sql`
    create or replace function answer() returns trigger language plpgsql as $$
    begin raise exception 'the database says so' using errcode = tg_argv[0]; end $$`.execute(service.db);
  await sql`create trigger answer before insert on ${sql.table(table)} for each row
    execute function answer(${sql.lit(state)})`.execute(service.db);
  return () => sql`drop trigger answer on ${sql.table(table)}`.execute(service.db);
}

test.each([
  ['40001', 'a conflict'],
  ['42501', 'no permission'],
  ['XX001', 'a damaged table'],
])('%s, %s → a fault of the database; an upload is 503 with Retry-After', async (state) => {
  const account = await makeAccount(service.db, { balanceMs: 60_000 });
  const mend = await answers(state, 'sessions');
  const { body, headers } = await service.post('/v1/transcriptions', account.key).attach('file', tone).expect(503);
  expect({ body, headers }).toMatchObject({ body: { code: 'unavailable' }, headers: { 'retry-after': '5' } });
  await mend();
});

test.each([
  ['42501', 'no permission', 2],
  ['22003', 'a number out of range, which is about what was said', 1],
])('%s, %s, when a transcript is stored → attempts left: %3$d', async (state, _, attemptsLeft) => {
  const account = await makeAccount(service.db, { balanceMs: 60_000 });
  const mend = await answers(state, 'transcripts');
  const recognizer = new ScriptedRecognizer();
  const worker = await service.work(recognizer);
  const { sessionId } = await upload(service, account, tone);
  await until(
    () => row(service, account, sessionId),
    ({ attempt, status }) => attempt === 1 && status === 'queued',
  );
  await mend();
  await until(
    async () => {
      await hurryRetries(service);
      return recognizer.of(sessionId);
    },
    (times) => times === 2,
  );
  expect(await final(service, account, sessionId)).toMatchObject({ status: 'completed' });
  expect(await row(service, account, sessionId)).toMatchObject({ attempts_left: attemptsLeft });
  await worker.stop();
});

test('accounts are locked → not ready, and says why', async () => {
  await service.db.transaction().execute(async (trx) => {
    await sql`lock table accounts in access exclusive mode`.execute(trx);
    expect(await whyNoDatabase(service.db)).toBe('the database refuses: canceling statement due to lock timeout');
  });
  expect(await whyNoDatabase(service.db)).toBeUndefined();
});
