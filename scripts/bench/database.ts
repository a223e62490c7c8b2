/** A PostgreSQL for the bench alone, with the service's tables and many rows. */
import { chmodSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openConnection } from '../../db/connection/database.ts';
import { clusterPaths } from '../../db/embedded/cluster.ts';
import { joinEmbeddedPostgres } from '../../db/embedded/embedded-postgres.ts';
import { migrateToLatest } from '../../db/migrations/migrate.ts';
import { digestOf, newApiKey } from '../../src/api/access/api-key.ts';
import type { Setting } from './bench.ts';

export interface BenchDatabase {
  readonly url: string;
  /** Process id of its postmaster. */
  readonly pid: number;
  /** Runs SQL on the bench's own connection, without a time limit. */
  query<Row>(text: string, values?: unknown[]): Promise<Row[]>;
}

/**
 * Starts the embedded PostgreSQL as `npm start` does, and makes the tables.
 *
 * @param home where it is: below the folder of the run
 * @returns with what stops it before the end of the run
 */
export async function startDatabase(
  setting: Setting,
  home = setting.folder,
): Promise<BenchDatabase & { leave(): Promise<void> }> {
  const folder = join(home, 'postgres');
  mkdirSync(home, { recursive: true });
  // PostgreSQL refuses to run as root. Its user must be able to enter the folders.
  for (const path of new Set([setting.folder, home])) chmodSync(path, 0o711);
  const postgres = await joinEmbeddedPostgres({ folder });
  const leave = () => postgres.leave();
  setting.atEnd(leave);
  const pid = Number(readFileSync(clusterPaths(folder).postmasterPid, 'utf8').split('\n')[0]);
  await migrateToLatest(postgres.url);
  const connection = openConnection(postgres.url);
  connection.on('error', () => undefined);
  await connection.connect();
  setting.atEnd(() => connection.end());
  return { url: postgres.url, pid, leave, query: async (text, values) => (await connection.query(text, values)).rows };
}

export interface BenchAccount {
  id: string;
  /** With both scopes. */
  key: string;
}

/** Makes accounts that reach none of their limits, each with a key and a balance of 1,000 h. */
export async function seedAccounts({ query }: BenchDatabase, count: number): Promise<BenchAccount[]> {
  const rows = await query<{ id: string }>(
    `with made as (
       insert into accounts (id, name, plan, balance_ms, requests_per_minute, queued_sessions, running_jobs)
       select uuidv7(), 'Account ' || n, 'enterprise', 3600000000, 1000000, 1000000, 16 from generate_series(1, $1::int) as n
       returning id
     ), credited as (
       insert into ledger (account_id, id, kind, amount_ms) select id, uuidv7(), 'credit', 3600000000 from made
     )
     select id from made`,
    [count],
  );
  const accounts = rows.map(({ id }) => ({ id, key: newApiKey() }));
  await query(
    `insert into api_keys (id, account_id, digest, prefix, last_four, scopes)
     select uuidv7(), account_id, digest, 'tsk_bench', 'last', '{read,write}'
     from unnest($1::uuid[], $2::bytea[]) as key (account_id, digest)`,
    [accounts.map(({ id }) => id), accounts.map(({ key }) => digestOf(key))],
  );
  return accounts;
}

/** Makes completed sessions, evenly over all accounts. They are one second apart; the newest is a minute old. */
export async function seedSessions({ query }: BenchDatabase, count: number): Promise<void> {
  await query(
    `insert into sessions (account_id, id, job_id, queue_job_id, status, title, created_at, started_at, completed_at,
       duration_ms, max_audio_ms, language, reserved_ms, attempts_left, transcript_version, audio_deleted_at)
     select owner.id, made.id, uuidv7(), uuidv7(), 'completed', 'Board meeting ' || n, at, at + interval '0.2 s',
       at + interval '9 s', 60000 + n % 3600000, 14400000, 'en-US', 0, 2, md5(made.id::text), at + interval '10 s'
     from generate_series(1, $1::int) as n
       cross join lateral (select clock_timestamp() - (60 + n) * interval '1.000123 s' as at) as clock
       cross join lateral (select uuidv7((60 + n) * interval '-1.000123 s') as id) as made
       join (select id, row_number() over (order by id) - 1 as place from accounts) as owner
         -- With a number from outside, the join can be hashed.
         on owner.place = n % (select count(*) from accounts)`,
    [count],
  );
}

/**
 * Gives the newest sessions of every account a transcript.
 *
 * @returns the account, id and version of each of these sessions
 */
export async function seedTranscripts(
  { query }: BenchDatabase,
  perAccount: number,
  segments: number,
): Promise<{ account_id: string; id: string; version: string }[]> {
  return query(
    `with newest as (
       select account_id, session.id, transcript_version from accounts cross join lateral (
         select * from sessions where account_id = accounts.id order by created_at desc limit $1::int
       ) as session
     ), stored as (
       insert into transcripts (account_id, session_id, segments, words)
       select account_id, id, (
         select json_agg(json_build_object('index', i, 'startMs', i * 4000 + 120, 'endMs', i * 4000 + 3480,
           'text', translate(md5(id::text || i) || ' ' || md5(i || id::text), '0123456789', ' taeio snr'),
           'confidence', round((0.5 + random() / 2)::numeric, 2)) order by i)
         from generate_series(0, $2::int - 1) as i
       ), '[]' from newest
     )
     select account_id, id, transcript_version as version from newest`,
    [perAccount, segments],
  );
}

/** Tells the planner about the rows, as autovacuum would do, and writes everything to disk. */
export async function settle({ query }: BenchDatabase): Promise<void> {
  await query('vacuum (analyze)');
  await query('checkpoint');
}
