/** `admin verify`: nothing to say of a sound database, and every rule named when it is broken. */
import { cp, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { nameOfDatabase } from '../../../db/audit/audit.ts';
import { openDatabase } from '../../../db/connection/database.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { resume } from '../../../scripts/admin/verify-progress.ts';
import { audit, usualGrace } from '../../../src/audit/audit.ts';
import { auditedFiles } from '../../support/service/audit.ts';
import { createTestDatabase } from '../../support/service/database.ts';
import { makeEverySession } from '../../support/service/every-session.ts';
import { startTestService } from '../../support/service/service.ts';
import { until } from '../../support/until.ts';
import { breaches, leaveFile, unknownAudio } from './breaches.ts';
import { rolledBack } from './rolled-back.ts';
import { adminOf, mistaken, refused, runAdmin } from './run-admin.ts';
import type { Check } from '../../../db/audit/rule.ts';
import type { Db } from '../../../db/connection/database.ts';
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
  const { db, close } = openDatabase(database.url, () => {}, { maxConnections: 2 });
  await othersHaveEnded(db)
    .then(() => auditOf({ ...original, db }))
    .finally(close);
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
    const audit = await admin.json<Audit>('verify', '--everything');
    expect(brokenRules(audit)).toEqual([]);
    expect(audit.sound).toBe(true);
    // A rule that looks at nothing could not be broken by the rows below.
    const idle = ['upload_is_alive'];
    expect(audit.checks.filter(({ checked }) => checked === 0).map(({ id }) => id)).toEqual(idle);
    expect(new Set(breaches.map(([id]) => id))).toEqual(new Set(audit.checks.map(({ id }) => id)));
    const { stdout, code } = await admin.run('verify', '--everything');
    expect({ code, lines: stdout.split('\n').length }).toEqual({ code: 0, lines: audit.checks.length + 4 });
    expect(stdout).toMatch(/^RULE +CHECKED +BREACHES\n/);
    expect(stdout).toMatch(/\nA failed session is not charged +2 +0\n[^]*\nEverything holds\.\n$/);
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
  });
});

test('nothing has changed since the last look → no transcript is judged again', async () => {
  await rolledBack(original.url, async (db) => expect(unchangedOf(await auditOf({ ...original, db }))).toBe(2));
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

/** Three sessions, or three accounts, are a part. What has not changed is not judged again. */
const auditOf = ({ db, dataDir }: Breakable) =>
  audit({ db, ...auditedFiles(dataDir) }, { most: 3, marks: 'used' }, { ...usualGrace, removedWithinMs: 0 });
/** A transaction of another test holds a mark back while it runs: transactions are numbered for all databases of a server. */
async function othersHaveEnded(db: Db): Promise<void> {
  const edge = sql<{ oldest: string; next: string }>`select pg_snapshot_xmin(pg_current_snapshot())::text as oldest,
    pg_snapshot_xmax(pg_current_snapshot())::text as next`;
  const edges = async () => (await edge.execute(db)).rows[0]!;
  const { next } = await edges();
  await until(async () => BigInt((await edges()).oldest) >= BigInt(next));
}

/** How many transcripts were not judged again. */
const unchangedOf = ({ checks }: Audit) => (checks.find(({ id }) => id === 'version_is_hash') as Check).unchanged ?? 0;

test('a breach in the rows → exit code 1 and one in JSON, read by programs', async () => {
  await onCopy(async (copy, admin) => {
    const [id, , breakIt] = breaches[0]!;
    await breakIt(copy);
    const { code, stdout, stderr } = await admin.run('verify', '--json');
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    const found = JSON.parse(stdout) as Audit;
    expect(found.sound).toBe(false);
    expect(brokenRules(found)).toEqual([
      { id, rule: expect.any(String), checked: 3, breaches: 1, examples: [copy.other.id] },
    ]);
  });
});

test('interrupted and resumed → goes on behind the breach that it had found, and tells it', async () => {
  await onCopy(async ({ db, dataDir }, admin) => {
    const first = await db
      .selectFrom('sessions')
      .select(['id', 'charged_ms'])
      .orderBy('account_id')
      .orderBy('id')
      .executeTakeFirstOrThrow();
    const tell = (charged: number | null) =>
      sql`update sessions set charged_ms = ${charged} where id = ${first.id}`.execute(db);
    await tell(7);
    const file = join(dataDir, 'progress.json');
    const { keep } = await resume(file, await nameOfDatabase(db));
    const interrupted = audit(
      { db, ...auditedFiles(dataDir) },
      {
        most: 1,
        async keep(progress) {
          await keep!(progress);
          throw new Error('interrupted');
        },
      },
    );
    await expect(interrupted).rejects.toThrow('interrupted');
    await tell(first.charged_ms);
    const another = /was begun without --everything: type it the same way/;
    expect(await admin.run('verify', '--everything', '--resume', file)).toEqual(mistaken(another));
    const { code, stdout } = await admin.run('verify', '--json', '--resume', file);
    expect(code).toBe(1);
    expect(brokenRules(JSON.parse(stdout) as Audit)).toMatchObject([
      { id: 'charge_is_told', breaches: 1, examples: [first.id] },
    ]);
    expect((await admin.json<Audit>('verify', '--resume', file)).sound).toBe(true);
    await writeFile(file, JSON.stringify({ database: 'another', everything: false, progress: { checks: [] } }));
    expect(await admin.run('verify', '--resume', file)).toEqual(mistaken(/is of another database\./));
  });
});

describe('transcripts after a look that found nothing', () => {
  const judged = async (db: Db, admin: Admin, ...args: string[]) => {
    await othersHaveEnded(db);
    const found = await admin.json<Audit>('verify', ...args);
    const { checked } = found.checks.find(({ id }) => id === 'version_is_hash')!;
    return { checked, unchanged: unchangedOf(found) };
  };
  const touch: [string, string, { checked: number; unchanged: number }][] = [
    ['nothing', 'select', { checked: 0, unchanged: 2 }],
    ['a transcript', 'update transcripts set words = words where session_id = :spoken', { checked: 1, unchanged: 1 }],
    ['its session', 'update sessions set duration_ms = duration_ms where id = :spoken', { checked: 1, unchanged: 1 }],
    [
      'the server, which was started again',
      `update turns set found = jsonb_set(found::jsonb, '{server}', '"another"')`,
      { checked: 2, unchanged: 0 },
    ],
    [
      'the rules',
      `update turns set found = jsonb_set(found::jsonb, '{rules}', '"others"')`,
      { checked: 2, unchanged: 0 },
    ],
  ];

  test.each(touch)('%s was changed → judged again', async (_, statement, expected) => {
    await onCopy(async ({ db, sessions }, admin) => {
      await judged(db, admin, '--everything');
      await sql.raw(statement.replace(':spoken', `'${sessions.spoken}'`)).execute(db);
      expect(await judged(db, admin)).toEqual(expected);
      expect(await judged(db, admin)).toEqual({ checked: 0, unchanged: 2 });
      expect((await admin.run('verify')).stdout).toContain('\n2 transcripts unchanged since an earlier look: ');
      expect(await judged(db, admin, '--everything')).toEqual({ checked: 2, unchanged: 0 });
    });
  });

  test('a transcript stored by a transaction that ran meanwhile → judged the next time', async () => {
    await onCopy(async ({ db, sessions }, admin) => {
      await judged(db, admin, '--everything');
      await inTransaction(db, async (trx) => {
        await sql`update transcripts set words = words where session_id = ${sessions.spoken}`.execute(trx);
        await admin.run('verify', '--everything');
      });
      expect(await judged(db, admin)).toEqual({ checked: 1, unchanged: 1 });
    });
  });

  test('a breach → found by each look, until it is mended', async () => {
    await onCopy(async ({ db, sessions }, admin) => {
      await judged(db, admin, '--everything');
      const version = (changed: string) =>
        sql`update sessions set transcript_version = ${sql.raw(changed)} where id = ${sessions.spoken}`.execute(db);
      await version('reverse(transcript_version)');
      for (let look = 0; look < 2; look++) {
        const { code, stdout } = await admin.run('verify', '--json');
        expect(code).toBe(1);
        expect(brokenRules(JSON.parse(stdout) as Audit)).toMatchObject([{ id: 'version_is_hash', breaches: 1 }]);
      }
      await version('reverse(transcript_version)');
      expect(await judged(db, admin)).toEqual({ checked: 1, unchanged: 1 });
    });
  });
});

test('seven breaches of a rule → all counted, five shown', async () => {
  await onCopy(async (copy, admin) => {
    for (let left = 0; left < 7; left++) await leaveFile(unknownAudio)(copy);
    const { code, stdout } = await admin.run('verify');
    expect(code).toBe(1);
    expect(stdout).toMatch(/Stored audio is of a session that needs it: 7 breaches\n( {2}\S{73}\n){5} {2}and 2 more\n/);
    expect(stdout).toMatch(/\n1 rule broken\.\n$/);
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
