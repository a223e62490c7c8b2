/** From the embedded database to a server of one's own: killed in between, typed again, and the service goes on there. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { joinEmbeddedPostgres } from '../../../db/embedded/embedded-postgres.ts';
import { openDatabase } from '../../../db/connection/database.ts';
import { listLedger } from '../../../db/accounts/ledger.ts';
import { prepareDatabase } from '../../../src/process/migration.ts';
import { cancelSession } from '../../../src/sessions/support.ts';
import { atEnd } from '../../support/at-end.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { expectSound } from '../../support/service/audit.ts';
import { useEmptyDatabase } from '../../support/service/empty-database.ts';
import { final, upload } from '../../support/service/jobs.ts';
import { startProcess } from '../../support/service/processes.ts';
import { startTestService } from '../../support/service/service.ts';
import { until } from '../../support/until.ts';
import { useFolder } from '../../support/use-folder.ts';
import { voice } from '../../support/uploads/uploads.ts';
import { startScript } from '../run-script.ts';
import { refused, runAdminProcess } from './run-admin.ts';
import type { TestAccount } from '../../support/service/accounts.ts';
import type { Db } from '../../../db/connection/database.ts';

const folder = useFolder();
const [dataDir, file] = [join(folder, 'data'), join(folder, 'voice.wav')];
const target = await useEmptyDatabase();
const moving = ['--json', 'move', '--to-database', target.href];
const env = { DATA_DIR: dataDir };
const balanceMs = 600_000;
let account: TestAccount;
let [completed, failed, queued] = ['', '', ''];

/** By a superuser, whom no foreign key stops. */
const asSuperuser = () => {
  const { username, password } = new URL(process.env.TEST_DATABASE_URL!);
  const { db, close } = openDatabase(Object.assign(new URL(target), { username, password }).href, () => {});
  atEnd(close);
  return db;
};

beforeAll(async () => {
  await mkdir(dataDir, { mode: 0o711 });
  await writeFile(file, await voice(2_000));
  const postgres = await joinEmbeddedPostgres({ folder: join(dataDir, 'postgres') });
  const service = await startTestService({ beside: { databaseUrl: postgres.url, dataDir } });
  try {
    account = await makeAccount(service.db, { balanceMs });
    const sent = async () => (await upload(service, account, file)).sessionId;
    const worker = await service.work();
    completed = await sent();
    await final(service, account, completed);
    await worker.stop();
    [failed, queued] = [await sent(), await sent()];
    await cancelSession(service, failed);
    expect(await runAdminProcess(moving, env)).toEqual(
      refused(/^The service runs on this database: 1 API and 1 worker/),
    );
  } finally {
    await service.stop();
    await postgres.leave();
  }
});

test('killed with kill -9 while it copies → the target is empty; again → all is there; the queued one is transcribed there', async () => {
  const db = asSuperuser();
  await killWhileItCopies(db);
  expect((await db.selectFrom('accounts').select('id').execute()).length).toBe(0);

  const again = await runAdminProcess(moving, env);
  expect(again).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(again.stdout)).toMatchObject({ from: `${dataDir}/postgres`, verify: { sound: true } });
  const old = await startProcess('start-api', env);
  const upload503 = await send(old.url);
  expect(upload503.status).toBe(503);
  await old.stop();

  const service = await startProcess('start', { ...env, DATABASE_URL: target.href });
  const get = async (session: string) => {
    const answer = await fetch(`${service.url}/v1/sessions/${session}/transcript?wait=10`, {
      headers: { Authorization: `Bearer ${account.key}` },
    });
    return (await answer.json()) as { status: string };
  };
  expect(await until(() => get(queued), ({ status }) => status !== 'queued' && status !== 'processing')) // prettier-ignore
    .toMatchObject({ status: 'completed' });
  expect(await get(completed)).toMatchObject({ status: 'completed' });
  expect(await get(failed)).toMatchObject({ status: 'failed' });
  expect((await send(service.url)).status).toBe(202);
  await until(async () => (await charged(db)).length === 3);
  await service.stop();
  expect((await charged(db)).slice(0, 2)).toEqual([completed, queued]);
  await expectSound({ db, dataDir });
});

/** A row that somebody else is about to put there holds up the copying of its table. */
async function killWhileItCopies(db: Db): Promise<void> {
  const opened = openDatabase(target.href, () => {});
  await prepareDatabase(opened.db, { url: target.href, mayMigrate: true, onNotice: () => {} }).finally(opened.close);
  await db.transaction().execute(async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx);
    const row = { account_id: account.id, session_id: completed, segments: '[]', words: '[]' };
    await trx.insertInto('transcripts').values(row).execute();
    const first = startScript(['scripts/admin/main.ts', ...moving], env);
    await until(async () => {
      const { rows } = await sql`select from pg_stat_activity where wait_event = 'transactionid'
        and query like 'copy transcripts %'`.execute(db);
      return rows.length === 1;
    });
    first.kill('SIGKILL');
    expect((await first.ended).code).toBeNull();
    await sql`rollback`.execute(trx).catch(() => {});
  });
}

const charged = async (db: Db) => (await listLedger(db, account.id)).flatMap(({ session_id }) => session_id ?? []);

async function send(url: string): Promise<Response> {
  const body = new FormData();
  body.set('file', new Blob([new Uint8Array(await voice(2_000))]), 'voice.wav');
  return fetch(`${url}/v1/transcriptions`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${account.key}` },
    body,
  });
}
