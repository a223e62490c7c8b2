/**
 * `admin verify` beside a service at work, where nothing that is under way looks like a breach; and at a standby, which spares the
 * primary and is a little behind.
 */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { audit } from '../../../src/audit/audit.ts';
import { RecognizerError } from '../../../src/recognizers/recognizer.ts';
import { eraseAccount } from '../../../src/sessions/account-erasure.ts';
import { cancelSession, eraseSession, retrySession } from '../../../src/sessions/support.ts';
import { ask, startPostgres, startStandbyOf } from '../../rig/postgres.ts';
import { ScriptedRecognizer, says } from '../../support/models/scripted-recognizer.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { auditedFiles, expectSound } from '../../support/service/audit.ts';
import { final, upload } from '../../support/service/jobs.ts';
import { startTestService } from '../../support/service/service.ts';
import { useService } from '../../support/service/use-service.ts';
import { until } from '../../support/until.ts';
import { tone } from '../../support/uploads/uploads.ts';
import { adminOf, mistaken, runAdmin } from './run-admin.ts';
import type { Audit } from '../../../src/audit/audit.ts';
import type { TestAccount } from '../../support/service/accounts.ts';
import type { OwnPostgres } from '../../rig/postgres.ts';

const service = await useService();
const dataDir = await mkdtemp(join(process.env.TEST_FOLDER!, 'standby-'));
const file = join(dataDir, 'tone.wav');
await writeFile(file, await tone(500));
let primary: OwnPostgres;
let standby: OwnPostgres;
const besidePrimary = () => startTestService({ beside: { databaseUrl: primary.url, dataDir } });
beforeAll(async () => {
  primary = await startPostgres();
  const other = await besidePrimary();
  await upload(other, await makeAccount(other.db), file);
  await other.stop();
  standby = await startStandbyOf(primary);
});

const brokenRules = ({ checks }: Audit) => checks.filter(({ breaches }) => breaches > 0);
/** No file is too young to be a breach: only what is under way is forgiven. */
const strict = { sweptWithinMs: -Infinity, removedWithinMs: 15_000 };

/** Every third is silent, every fourth fails. */
const recognizer = () => {
  let recognized = 0;
  return new ScriptedRecognizer(async () => {
    recognized += 1;
    if (recognized % 4 === 0) throw new RecognizerError('recognizer_error', 'as the test says', { retryable: false });
    return recognized % 3 === 0 ? { language: 'en-US', segments: [] } : says('hello');
  });
};

/** What clients and support do, one thing after the other, `rounds` times. */
async function keepBusy(account: TestAccount, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const { sessionId } = await upload(service, account, file);
    const other = await upload(service, account, file);
    // Some are final before support gets to them.
    await cancelSession(service, account.id, other.sessionId);
    await retrySession(service, account.id, other.sessionId);
    await final(service, account, sessionId);
    const erased = await eraseSession(service, account.id, round % 2 === 0 ? sessionId : other.sessionId);
    expect(erased).toEqual({ kind: 'erased' });
  }
  const left = await makeAccount(service.db);
  await Promise.all([upload(service, left, file), upload(service, left, file)]);
  expect(await eraseAccount(service, left.id)).toEqual({ kind: 'erased', sessions: 2, keys: 1 });
}

test('verify again and again while sessions come, end and are erased → never a breach', async () => {
  const worker = await service.work(recognizer());
  const accounts = [await makeAccount(service.db), await makeAccount(service.db), await makeAccount(service.db)];
  let isBusy = true;
  const work = Promise.all(accounts.map((account) => keepBusy(account, 5))).finally(() => (isBusy = false));

  const audited = { db: service.db, ...auditedFiles(service.dataDir) };
  let looks = 0;
  let sessionsSeen = 0;
  while (isBusy) {
    const found =
      looks % 10 === 5 ? await adminOf(service).json<Audit>('verify') : await audit(audited, { grace: strict });
    expect(brokenRules(found)).toEqual([]);
    looks += 1;
    sessionsSeen += found.checks.find(({ id }) => id === 'unfinished_has_job')!.checked;
  }
  await work;
  await worker.stop();
  // It was looked at while something was under way.
  expect(looks).toBeGreaterThan(3);
  expect(sessionsSeen).toBeGreaterThan(0);
  await expectSound(service);
});

const wrongForm = 'Type postgres://user@host:port/database, with its password in PGPASSWORD';
const nowhere = 'postgres://127.0.0.1:1/none';
const verify = (...args: string[]) =>
  runAdmin(['verify', ...args], { DATABASE_URL: nowhere, DATABASE_DIRECT_URL: nowhere, DATA_DIR: dataDir });

test('verify --database-url of a standby → every rule, as at the primary', async () => {
  const { code, stdout, stderr } = await verify('--database-url', standby.url);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('Everything holds.');
});

test.each([
  ['a URL of another kind', ['--database-url', 'postgress://me:se@"secret@standby/name'], wrongForm],
  ['a mistyped option', ['--databse-url=postgres://me:se@ secret@standby/name'], /standby\/name/],
  ['a password in the query', ['postgres://standby/name?user=me&password=secret&sslmode=require'], /standby\/name/],
])('verify with %s → what to type or what was wrong, and never the password', async (_, args, sentence) => {
  const end = await verify(...args);
  expect(end).toEqual(mistaken(sentence));
  expect(end.stderr).not.toMatch(/secret/);
});

test('a session is erased at the primary, of which the standby hears a little later → no breach', async () => {
  const other = await besidePrimary();
  const owner = await makeAccount(other.db);
  const { sessionId } = await upload(other, owner, file);
  const known = () => ask(standby.url, `select from sessions where id = '${sessionId}'`);
  await until(known, (rows) => rows.length === 1);
  await ask(standby.url, 'select pg_wal_replay_pause()');
  await eraseSession(other, owner.id, sessionId);
  const looking = verify('--database-url', standby.url);
  // It has missed the file, and the standby has told it that the session needs it.
  const asked = `query like '%isNeeded%' and state = 'idle' and pid <> pg_backend_pid()`;
  await until(
    () => ask(standby.url, `select from pg_stat_activity where ${asked}`),
    (rows) => rows.length > 0,
  );
  await ask(standby.url, 'select pg_wal_replay_resume()');
  expect(await looking).toMatchObject({ code: 0, stdout: expect.stringContaining('Everything holds.') });
  await other.stop();
});
