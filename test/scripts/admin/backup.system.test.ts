/**
 * A backup under load, a disaster, and the service on what was restored; and which audio a backup holds: what the sessions need
 * at its moment, however short-lived it is.
 */
import { appendFile, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { copyCluster } from '../../../scripts/admin/base-backup.ts';
import { clusterPaths } from '../../../db/embedded/cluster.ts';
import { joinEmbeddedPostgres } from '../../../db/embedded/embedded-postgres.ts';
import { listLedger } from '../../../db/accounts/ledger.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { listSupportLog } from '../../../db/accounts/support-log.ts';
import { NewBackup, readBackup } from '../../../scripts/admin/backup-folder.ts';
import { AudioCopy, backUp, bringBack, look } from '../../../scripts/admin/backup.ts';
import { readConfig } from '../../../src/config/config.ts';
import { eraseSession } from '../../../src/sessions/support.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { asSupport } from '../../support/service/admin.ts';
import { expectSound } from '../../support/service/audit.ts';
import { atEnd } from '../../support/at-end.ts';
import { final, hurryRetries, upload } from '../../support/service/jobs.ts';
import { ScriptedRecognizer, says } from '../../support/models/scripted-recognizer.ts';
import { startTestService } from '../../support/service/service.ts';
import { useService } from '../../support/service/use-service.ts';
import { useFolder } from '../../support/use-folder.ts';
import { until } from '../../support/until.ts';
import { tone } from '../../support/uploads/uploads.ts';
import type { TestAccount } from '../../support/service/accounts.ts';
import type { TestService } from '../../support/service/service.ts';

const folder = useFolder();
const beside = await useService();
const file = join(folder, 'tone.wav');
await writeFile(file, await tone(500));

/** The service on the embedded PostgreSQL of this data folder. */
async function serve(dataDir: string): Promise<{ service: TestService; stop(): Promise<void> }> {
  const postgres = await joinEmbeddedPostgres({ folder: join(dataDir, 'postgres') });
  const service = await startTestService({ beside: { databaseUrl: postgres.url, dataDir } });
  return { service, stop: () => service.stop().finally(() => postgres.leave()) };
}

test('back up under load, lose everything, restore → every 202 from before is there and charged once', async () => {
  const [dataDir, to] = [join(folder, 'data'), join(folder, 'backup')];
  await mkdir(dataDir, { mode: 0o711 });
  const { service, stop } = await serve(dataDir);
  let stopped: Promise<void> | undefined;
  atEnd(() => (stopped ??= stop()));
  const limits = { requests_per_minute: 100_000, queued_sessions: 100_000 };
  const account = await makeAccount(service.db, { limits });
  // Completes at once, so that audio comes and goes all the time.
  await service.work(new ScriptedRecognizer(async () => says('hello')));

  await seeNothingChangeAtTheEnd(service);
  const accepted: string[] = [];
  let isLoaded = true;
  const client = async () => {
    while (isLoaded) {
      const { sessionId } = await upload(service, account, file);
      accepted.push(sessionId);
      await final(service, account, sessionId);
    }
  };
  const load = Promise.all([client(), client(), client()]);
  await final(service, account, (await upload(service, account, file)).sessionId);
  const before = [...accepted];
  const within = asSupport({ DATA_DIR: dataDir }, (admin) => backUp(admin, join(dataDir, 'backup')));
  await expect(within).rejects.toThrow(/lies within DATA_DIR/);
  const occupied = asSupport({ DATA_DIR: dataDir }, (admin) => backUp(admin, file));
  await expect(occupied).rejects.toThrow(/to a folder of its own, and .* is none/);
  const { exitCode } = await asSupport({ DATA_DIR: dataDir }, (admin) => backUp(admin, to));
  expect(exitCode).toBe(0);
  isLoaded = false;
  await load;
  expect(accepted.length).toBeGreaterThan(before.length);
  await (stopped ??= stop());
  await rm(dataDir, { recursive: true });

  const restored = join(folder, 'restored');
  const config = readConfig({ DATA_DIR: restored });
  await bringBack(config, to);
  const seen = await asSupport({ DATA_DIR: restored }, look);
  expect(seen).toMatchObject({ exitCode: 0, json: { sound: true } });
  await expect(bringBack(config, to)).rejects.toThrow(/restored to an empty DATA_DIR, .* is not empty/);
  await goesOn(restored, account, before);
  await restoreBesideAStart(to);
  const sums = join(to, 'SHA256SUMS');
  const whole = await readFile(sums, 'utf8');
  await writeFile(sums, whole.slice(0, whole.lastIndexOf('\n', whole.length - 2) + 1));
  await expect(bringBack(readConfig({ DATA_DIR: join(folder, 'less') }), to)).rejects.toThrow(
    /SHA256SUMS names \d+ files/,
  );
  await writeFile(sums, whole);

  const damaged = (await readdir(join(to, 'database'))).find((name) => name === 'PG_VERSION')!;
  await appendFile(join(to, 'database', damaged), ' ');
  const third = join(folder, 'third');
  const refused = bringBack(readConfig({ DATA_DIR: third }), to);
  await expect(refused).rejects.toThrow(/^The backup is damaged: database\/PG_VERSION /);
  expect(await readdir(third)).toEqual([]);
  await rm(join(to, 'backup.json'));
  await expect(bringBack(readConfig({ DATA_DIR: third }), to)).rejects.toThrow(/holds no backup/);
});

/** What a service accepts while a backup is copied stays, and the restore says why it stopped. */
async function restoreBesideAStart(from: string): Promise<void> {
  const dataDir = join(folder, 'started');
  const restoring = bringBack(readConfig({ DATA_DIR: dataDir }), from);
  restoring.catch(() => {});
  await until(
    () => readdir(dataDir).catch((): string[] => []),
    (names) => names.includes('restoring'),
  );
  await mkdir(join(dataDir, 'audio'));
  await writeFile(join(dataDir, 'audio/accepted'), '');
  await expect(restoring).rejects.toThrow(/audio appeared while the backup was copied/);
  expect(await readdir(dataDir, { recursive: true })).toEqual(['audio', 'audio/accepted']);
}

/** What the audio is chosen by must be what the copy of the database says. */
async function seeNothingChangeAtTheEnd({ db, databaseUrl, dataDir }: TestService): Promise<void> {
  const nowhere = { folder: async () => {}, file: async () => {}, content: async () => {} };
  const change = () =>
    inTransaction(db, async (trx) => {
      await sql`set local lock_timeout = '10ms'`.execute(trx);
      await sql`update sessions set title = title`.execute(trx);
    });
  const atTheEnd = () => expect(change()).rejects.toThrow(/lock timeout/);
  const hooks = { beforeTheEnd: async () => {}, atTheEnd };
  await copyCluster(clusterPaths(join(dataDir, 'postgres')).data, databaseUrl, nowhere, hooks);
}

async function goesOn(dataDir: string, account: TestAccount, before: string[]): Promise<void> {
  const { service, stop } = await serve(dataDir);
  try {
    // Nobody beats for the jobs that ran at the moment of the backup: else this would wait until that is noticed.
    await sql`update pgboss.job set heartbeat_on = heartbeat_on - interval '1 hour' where state = 'active'`.execute(
      service.db,
    );
    await service.work(new ScriptedRecognizer(async () => says('hello')));
    const rows = await until(
      async () => {
        await hurryRetries(service);
        return service.db.selectFrom('sessions').select(['id', 'status']).execute();
      },
      (all) => all.every(({ status }) => status === 'completed' || status === 'failed'),
    );
    const completed = rows.filter(({ status }) => status === 'completed').map(({ id }) => id);
    expect(completed).toEqual(expect.arrayContaining(before));
    const charged = (await listLedger(service.db, account.id)).flatMap(({ session_id }) => session_id ?? []);
    expect(charged.sort()).toEqual(completed.sort());
    expect(completed).toHaveLength(rows.length);
    const acts = await listSupportLog(service.db, { limit: 9 });
    expect(acts.map(({ act }) => act)).toEqual(['restore', 'backup']);
    await expectSound(service);
  } finally {
    await stop();
  }
}

test('audio of before and of the last moment is there, also if it is removed right after; removed before: not', async () => {
  const account = await makeAccount(beside.db);
  const sent = async () => (await upload(beside, account, file)).sessionId;
  const [kept, goneBefore] = [await sent(), await sent()];

  const backup = await NewBackup.in(join(folder, 'audio alone'));
  const audio = new AudioCopy(beside, backup);
  await audio.catchUp();
  const atTheLastMoment = await sent();
  const lost = await sent();
  await beside.audioStore.remove(account.id, lost);
  await eraseSession(beside, account.id, goneBefore);
  await audio.hold();
  await eraseSession(beside, account.id, atTheLastMoment);
  const afterwards = await sent();
  expect(await audio.finish()).toBe(2);
  expect(audio.lost).toEqual([lost]);
  await backup.finish(2);

  const { files } = await readBackup(backup.path);
  const expected = [kept, atTheLastMoment].map((id) => `audio/${account.id}/${id}`);
  expect(files.map(({ name }) => name).sort()).toEqual(expected.sort());
  for (const { name } of files) expect(await readFile(join(backup.path, name))).toEqual(await readFile(file));
  expect(files.map(({ name }) => name).join()).not.toContain(afterwards);
});
