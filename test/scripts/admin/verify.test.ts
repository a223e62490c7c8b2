/** `admin verify`: nothing to say of a sound database, and every rule named when it is broken. */
import { cp, mkdtemp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { openDatabase } from '../../../db/connection/database.ts';
import { audit, usualGrace } from '../../../src/audit/audit.ts';
import { auditedFiles } from '../../support/service/audit.ts';
import { createTestDatabase } from '../../support/service/database.ts';
import { makeEverySession } from '../../support/service/every-session.ts';
import { startTestService } from '../../support/service/service.ts';
import { breaches, leaveFile, rolledBack, unknownAudio } from './breaches.ts';
import { adminOf, mistaken, refused, runAdmin } from './run-admin.ts';
import type { Audit } from '../../../src/audit/audit.ts';
import type { TestDatabase } from '../../support/service/database.ts';
import type { EverySession } from '../../support/service/every-session.ts';
import type { Breakable } from './breaches.ts';
import type { Admin } from './run-admin.ts';

let original: TestDatabase & { dataDir: string } & EverySession;
beforeAll(async () => {
  const database = await createTestDatabase();
  const dataDir = await mkdtemp(join(process.env.TEST_FOLDER!, 'sound-'));
  const service = await startTestService({ beside: { databaseUrl: database.url, dataDir } });
  const every = await makeEverySession(service).finally(() => service.stop());
  original = { ...database, dataDir, ...every };
});
afterAll(() => original.drop());

async function copyOfFiles(): Promise<string> {
  const dataDir = await mkdtemp(join(process.env.TEST_FOLDER!, 'copy-'));
  await cp(original.dataDir, dataDir, { recursive: true });
  return dataDir;
}

/** Runs `work` on a copy of the sound database and its files, beside no service. */
async function onCopy(work: (copy: Breakable, admin: Admin) => Promise<void>): Promise<void> {
  const { url, drop } = await createTestDatabase(original.url);
  const dataDir = await copyOfFiles();
  const { db, close } = openDatabase(url, () => {}, { maxConnections: 2 });
  try {
    await work({ ...original, db, dataDir }, adminOf({ databaseUrl: url, dataDir }));
  } finally {
    await close();
    await drop();
  }
}

const brokenRules = ({ checks }: Audit) => checks.filter(({ breaches: count }) => count > 0);

test('a sound database with every kind of session → exit code 0, every rule with what it looked at', async () => {
  await onCopy(async (_, admin) => {
    const audit = await admin.json<Audit>('verify');
    expect(brokenRules(audit)).toEqual([]);
    expect(audit.sound).toBe(true);
    // A rule that looks at nothing could not be broken by the rows below.
    const idle = ['upload_is_alive'];
    expect(audit.checks.filter(({ checked }) => checked === 0).map(({ id }) => id)).toEqual(idle);
    expect(new Set(breaches.map(([id]) => id))).toEqual(new Set(audit.checks.map(({ id }) => id)));
    const { stdout, code } = await admin.run('verify');
    expect({ code, lines: stdout.split('\n').length }).toEqual({ code: 0, lines: audit.checks.length + 4 });
    expect(stdout).toMatch(/^RULE +CHECKED +BREACHES\n/);
    expect(stdout).toMatch(/\nA charge is the duration of its session, .+ +\d+ +0\n[^]*\nEverything holds\.\n$/);
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
  });
});

// In the test's own process, and within a transaction: processes and copies of databases would take minutes. Exit codes and
// prints are below.
test.each(breaches)('%s: %s → that rule is broken, and no other', async (id, _, breakIt) => {
  const dataDir = await copyOfFiles();
  await rolledBack(original.url, async (db) => {
    await breakIt({ ...original, db, dataDir });
    const { sound, checks } = await auditOf({ ...original, db, dataDir });
    expect(sound).toBe(false);
    expect(brokenRules({ sound, checks })).toEqual([
      expect.objectContaining({ id, breaches: 1, examples: [expect.stringMatching(/\S/)] }),
    ]);
  });
});

const auditOf = ({ db, dataDir }: Breakable) =>
  audit({ db, ...auditedFiles(dataDir) }, { grace: { ...usualGrace, removedWithinMs: 0 } });

test('seven breaches of two rules → exit code 1, all counted, five shown; in one JSON for programs', async () => {
  await onCopy(async (copy, admin) => {
    await sql`insert into accounts (id, name, plan, balance_ms)
      select gen_random_uuid(), 'A', 'pro', 1 from generate_series(1, 7)`.execute(copy.db);
    for (let left = 0; left < 7; left++) await leaveFile(unknownAudio)(copy);
    const { rows } = await sql<{ id: string }>`select id from accounts where name = 'A' order by id`.execute(copy.db);
    const asked = await admin.run('verify', '--json');
    expect(asked).toMatchObject({ code: 1, stderr: '' });
    const found = JSON.parse(asked.stdout) as Audit;
    expect(found.sound).toBe(false);
    expect(brokenRules(found)).toMatchObject([
      { id: 'balance_is_ledger', checked: 10, breaches: 7, examples: rows.slice(0, 5).map(({ id }) => id) },
      { id: 'audio_is_needed', breaches: 7, awaitingSweep: 0 },
    ]);
    const { code, stdout } = await admin.run('verify');
    expect(code).toBe(1);
    expect(stdout).toMatch(/Stored audio is of a session that needs it: 7 breaches\n( {2}\S{73}\n){5} {2}and 2 more\n/);
    expect(stdout).toMatch(/\n2 rules broken\.\n$/);
  });
});

test('a file that nobody needs, younger than two hours → shown as waiting for the sweep, no breach', async () => {
  await onCopy(async (copy, admin) => {
    await leaveFile(unknownAudio, 1)(copy);
    const audit = await admin.json<Audit>('verify');
    expect(audit).toMatchObject({ sound: true });
    expect(audit.checks.find(({ id }) => id === 'audio_is_needed')).toMatchObject({ breaches: 0, awaitingSweep: 1 });
    const { stdout } = await admin.run('verify');
    expect(stdout).toContain('1 file that nobody needs: a running worker removes them within two hours.');
  });
});

test.each(['--resume=progress.json', '--everything'])('%s → that it is gone', async (option) => {
  const end = await runAdmin(['verify', option], { DATA_DIR: original.dataDir });
  expect(end).toEqual(mistaken(/--resume and --everything are gone: verify judges everything each time\./));
});

test('a database that was not made yet → refused, and not made', async () => {
  const template = new URL(process.env.TEST_DATABASE_URL!);
  template.pathname = '/template1';
  const { url, drop } = await createTestDatabase(template.href);
  const { db, close } = openDatabase(url, () => {}, { maxConnections: 1 });
  try {
    const admin = adminOf({ databaseUrl: url, dataDir: original.dataDir });
    expect(await admin.run('verify')).toEqual(refused(/^There is no database of the service yet: .*\n$/));
    expect(await db.introspection.getTables({ withInternalKyselyTables: true })).toEqual([]);
  } finally {
    await close();
    await drop();
  }
  const dataDir = await mkdtemp(join(process.env.TEST_FOLDER!, 'nothing-'));
  expect(await runAdmin(['verify'], { DATA_DIR: dataDir })).toEqual(refused(/^There is no database/));
  expect(await readdir(dataDir)).toEqual([]);
});

test('a database of another version → refused, and left as it is', async () => {
  await onCopy(async ({ db }, admin) => {
    await sql`update kysely_migration set name = '0000-other' where name = '0001-initial'`.execute(db);
    expect(await admin.run('verify')).toEqual(
      refused(/^The database is of a newer version of the service: this one does not know 0000-other\. .*\n$/),
    );
    const { rows } = await sql`select name from kysely_migration order by name limit 1`.execute(db);
    expect(rows).toEqual([{ name: '0000-other' }]);
  });
});
