/** `admin verify`: nothing to say of a sound database, and every rule named when it is broken. */
import { randomUUID } from 'node:crypto';
import { cp, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Kysely, PostgresDialect, sql } from 'kysely';
import { openConnection, openDatabase } from '../../../db/connection/database.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { findSessionRow } from '../../../db/sessions/sessions.ts';
import { versionOf } from '../../../db/sessions/transcripts.ts';
import { audit, usualGrace } from '../../../src/audit/audit.ts';
import { indexSession } from '../../../db/search/passages.ts';
import { searchDocumentOf } from '../../../src/search/passages.ts';
import { ask, useEmptyDatabase } from '../../rig/postgres.ts';
import { atEnd } from '../../support/at-end.ts';
import { auditedFiles } from '../../support/service/audit.ts';
import { createTestDatabase } from '../../support/service/database.ts';
import { makeEverySession } from '../../support/service/every-session.ts';
import { startTestService } from '../../support/service/service.ts';
import { useFolder } from '../../support/use-folder.ts';
import { adminOf, mistaken, refused, runAdmin } from './run-admin.ts';
import type { Db } from '../../../db/connection/database.ts';
import type { Audit } from '../../../src/audit/audit.ts';
import type { EverySession, Kind } from '../../support/service/every-session.ts';
import type { Admin } from './run-admin.ts';

interface Breakable extends EverySession {
  db: Db;
  dataDir: string;
}

type Break = (on: Breakable) => Promise<unknown>;

/** Statements in which `:spoken`, `:account` and the like stand for ids. */
const run =
  (...statements: string[]): Break =>
  async ({ db, account, other, erasedId, sessions }) => {
    const ids: Record<string, string> = { ...sessions, account: account.id, other: other.id, erased: erasedId };
    for (const statement of statements) {
      await sql.raw(statement.replace(/(?<!:):([a-z]+)/g, (_, name: string) => `'${ids[name]}'`)).execute(db);
    }
  };

const without = (constraint: string) => `alter table sessions drop constraint ${constraint}`;
const measured = (ms: number) => `update sessions set measured_ms = ${ms} where id = :spoken`;
const changeLedger = 'alter table ledger disable trigger user';

/** Writes a charge, or takes it back, with the balance that belongs to it. */
const charge = (kind: Kind, account = ':account') => [
  `insert into ledger (account_id, id, kind, amount_ms, session_id)
    values (${account}, gen_random_uuid(), 'charge', -1000, :${kind})`,
  `update accounts set balance_ms = balance_ms - 1000 where id = ${account}`,
];

const loseAudio =
  (kind: Kind): Break =>
  ({ dataDir, account, sessions }) =>
    rm(join(dataDir, 'audio', account.id, sessions[kind]));

/** @param hours how long nobody has written to it */
const leaveFile =
  (place: (on: Breakable) => string[], hours = 3): Break =>
  async (on) => {
    const path = join(on.dataDir, ...place(on));
    const writtenAt = Date.now() / 1000 - hours * 3600;
    await writeFile(path, 'words');
    await utimes(path, writtenAt, writtenAt);
  };

const unknownAudio = ({ account }: Breakable) => ['audio', account.id, randomUUID()];
const abandonedUpload = () => ['audio', 'incoming', randomUUID()];
const workOfNobody = ({ account, sessions }: Breakable) => ['work', `${account.id}.${sessions.processing}.7`];

interface Segment {
  index: number;
  startMs: number | string;
  endMs: number;
  text: string;
}
type Words = { startMs: number; endMs: number; text: string }[][];

/** Rewrites the transcript of the spoken session, its version and what the search index holds of it. */
const edit =
  (change: (segments: Segment[], words: Words) => void): Break =>
  async ({ db, account, sessions: { spoken } }) => {
    const query = sql<Record<'segments' | 'words', string>>`select * from transcripts where session_id = ${spoken}`;
    const stored = (await query.execute(db)).rows[0]!;
    const [segments, words] = [JSON.parse(stored.segments) as Segment[], JSON.parse(stored.words) as Words];
    change(segments, words);
    const json = [JSON.stringify(segments), JSON.stringify(words)] as const;
    await sql`update transcripts set segments = ${json[0]}, words = ${json[1]} where session_id = ${spoken}`.execute(
      db,
    );
    await sql`update sessions set transcript_version = ${versionOf(1_000, ...json)} where id = ${spoken}`.execute(db);
    const { title, language } = (await findSessionRow(db, account.id, spoken))!;
    const findable = await searchDocumentOf(db, account.id, { title, language, segments: json[0] });
    await inTransaction(db, (trx) => indexSession(trx, { accountId: account.id, sessionId: spoken }, findable));
  };

/** The rule that has to be named, how it is broken, and by what. */
const breaches: [string, string, Break][] = [
  ['balance_is_ledger', 'a balance moved', run('update accounts set balance_ms = balance_ms + 1 where id = :other')],
  [
    'reserved_is_running',
    'a reservation moved',
    run('update accounts set reserved_ms = reserved_ms + 1 where id = :other'),
  ],
  [
    'speech_is_charged_once',
    'a charge lost',
    run(
      changeLedger,
      'delete from ledger where session_id = :spoken',
      'update accounts set balance_ms = balance_ms + 1000 where id = :account',
    ),
  ],
  [
    'charge_is_duration',
    'a ms too much',
    run(
      changeLedger,
      'update ledger set amount_ms = amount_ms - 1 where session_id = :spoken',
      'update accounts set balance_ms = balance_ms - 1 where id = :account',
    ),
  ],
  ['only_speech_is_charged', 'silence charged', run(...charge('silent'))],
  ['only_speech_is_charged', 'a queued session charged', run(...charge('queued'))],
  ['charge_is_of_own_session', 'another account charged', run(...charge('spoken', ':other'))],
  ['completed_has_transcript', 'a transcript lost', run('delete from transcripts where session_id = :silent')],
  ['transcript_is_of_completed', 'too early', run(`insert into transcripts values (:account, :queued, '[]', '[]')`)],
  ['decoded_is_measured', 'the end lost', run(measured(2021))],
  ['decoded_is_measured', 'much too long', run(without('sessions_measured_ms_check'), measured(-11))],
  [
    'retention_is_kept',
    'kept too long',
    run(`update sessions set delete_at = now() - interval '2 hours' where id = :silent`),
  ],
  ['charge_is_duration', 'another charge told', run('update sessions set charged_ms = 7 where id = :spoken')],
  ['charge_is_told', 'a charge told for silence', run('update sessions set charged_ms = 7 where id = :silent')],
  ['idempotency_names_session', 'another job', run('update idempotency set job_id = gen_random_uuid()')],
  ['erased_is_gone', 'a name', run(`update accounts set name = 'Somebody' where id = :erased`)],
  ['erased_is_gone', 'a language', run(`insert into search_languages values (:erased, 'en')`)],
  ['erased_is_gone', 'a key', run('update api_keys set account_id = :erased where account_id = :other')],
  [
    'erased_is_gone',
    'words in its ledger',
    run(changeLedger, `update ledger set reason = 'a name' where account_id = :erased`),
  ],
  [
    'support_log_is_whole',
    'an entry taken out',
    run(
      'alter table support_log disable trigger user',
      'delete from support_log where number = 1',
      'alter table support_log enable trigger user',
    ),
  ],
  [
    'support_log_is_whole',
    'changes are allowed',
    run('alter table support_log disable trigger support_log_is_append_only'),
  ],
  ['unfinished_has_job', 'a job lost', run(`delete from pgboss.job where data->>'sessionId' = :processing::text`)],
  [
    'job_has_session',
    'the job of a completed session comes back',
    run(`update pgboss.job set state = 'retry' where data->>'sessionId' = :spoken::text`),
  ],
  ['job_stands_in_turn', 'another tag', run(`update sessions set start_tag = 9 where id = :processing`)],
  ['transcript_shape', 'a time in letters', edit(([segment]) => void (segment!.startMs = '0'))],
  ['transcript_shape', 'half a ms', edit((_, [words]) => void (words![0]!.startMs = 0.5))],
  ['transcript_shape', 'no list', run(`update transcripts set words = '{"a": "\\u0000"}' where session_id = :silent`)],
  ['segments_are_numbered', 'a number left out', edit((segments) => void (segments[1]!.index = 2))],
  [
    'segments_are_sorted',
    'the second first',
    edit((segments, words) => {
      segments.reverse().forEach((segment, index) => (segment.index = index));
      words.reverse();
    }),
  ],
  ['segments_are_within', 'beyond the end', edit((segments) => void (segments[1]!.endMs = 1_001))],
  ['texts_are_trimmed', 'a space before a segment', edit(([segment]) => void (segment!.text = '\u00a0good'))],
  ['words_are_per_segment', 'a list too few', edit((_, words) => void words.pop())],
  ['words_are_within', 'a word beyond its segment', edit((_, [words]) => void (words![1]!.endMs = 499))],
  [
    'version_is_hash',
    'another letter',
    run(`update transcripts set segments = replace(segments::text, 'good', 'Good')::json where session_id = :spoken`),
  ],
  ['session_is_indexed', 'a session left out', run('delete from passages where session_id = :spoken')],
  ['session_is_indexed', 'another version', run('update passages set version = 0 where session_id = :spoken')],
  ['index_is_whole', 'its words left out', run(`update passages set words = '' where session_id = :queued`)],
  ['index_is_whole', 'a segment left out', run('update passages set starts = starts[:1] where session_id = :spoken')],
  ['needed_audio_is_there', 'audio of a queued session lost', loseAudio('queued')],
  ['needed_audio_is_there', 'audio of a failed session lost', loseAudio('failed')],
  ['audio_is_needed', 'audio of nobody', leaveFile(unknownAudio)],
  ['audio_is_needed', 'a file that somebody put there', leaveFile(({ account }) => ['audio', account.id, 'copy.wav'])],
  ['upload_is_alive', 'a dead upload', leaveFile(abandonedUpload)],
  ['work_is_running', 'decoded audio of nobody', leaveFile(workOfNobody)],
];

/** Runs `work` with a database whose transactions are all within one, which is rolled back afterwards. */
async function rolledBack<Result>(url: string, work: (db: Db) => Promise<Result>): Promise<Result> {
  const connection = openConnection(url);
  await connection.connect();
  const client = {
    query: (text: string, values: unknown[]) => connection.query(nested(text), values),
    release: () => {},
  };
  const db: Db = new Kysely({
    dialect: new PostgresDialect({ pool: { connect: async () => client, end: async () => {} } as never }),
  });
  try {
    await connection.query('begin isolation level repeatable read');
    return await work(db);
  } finally {
    await connection.end();
  }
}

function nested(statement: string): string {
  if (/^(begin|start transaction)/.test(statement)) return 'savepoint nested';
  if (statement === 'commit') return 'release savepoint nested';
  return statement === 'rollback' ? 'rollback to savepoint nested' : statement;
}

const database = await createTestDatabase();
atEnd(database.drop);
const files = useFolder();
const service = await startTestService({ beside: { databaseUrl: database.url, dataDir: files } });
const every = await makeEverySession(service).finally(() => service.stop());
const original = { url: database.url, dataDir: files, ...every };

async function copyOfFiles(): Promise<string> {
  const dataDir = useFolder();
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
  const { href } = await useEmptyDatabase();
  const admin = adminOf({ databaseUrl: href, dataDir: original.dataDir });
  expect(await admin.run('verify')).toEqual(refused(/^There is no database of the service yet: .*\n$/));
  expect(await ask(href, `select from pg_tables where schemaname = 'public'`)).toEqual([]);
});
