/** The invariants that hold at every moment, whatever happened. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { eventually } from './jobs.ts';
import type { Db } from '../../db/database.ts';

/** Each finds rows that break a rule; all of them see one snapshot. */
const rules: Record<string, string> = {
  'balance is the sum of the ledger': `
    select id from accounts a where balance_ms <> (select coalesce(sum(amount_ms), 0) from ledger where account_id = a.id)`,
  'reserved is the sum of the reservations of unfinished sessions': `
    select id from accounts a where reserved_ms <> (select coalesce(sum(reserved_ms), 0) from sessions
      where account_id = a.id and status in ('queued', 'processing'))`,
  'a final session reserves nothing': `
    select id from sessions where status in ('completed', 'failed') and reserved_ms <> 0`,
  'a completed session with speech is charged once, its duration': `
    select s.id from sessions s join transcripts t on t.account_id = s.account_id and t.session_id = s.id
    where s.status = 'completed' and json_array_length(t.segments) > 0
      and (select array_agg(amount_ms) from ledger l where l.account_id = s.account_id and l.session_id = s.id)
        is distinct from array[-s.duration_ms]::bigint[]`,
  'nothing else is charged': `
    select l.id from ledger l where kind = 'charge'
      and exists (select from sessions s where s.account_id = l.account_id and s.id = l.session_id)
      and not exists (select from sessions s join transcripts t on t.account_id = s.account_id and t.session_id = s.id
        where s.account_id = l.account_id and s.id = l.session_id and s.status = 'completed'
          and json_array_length(t.segments) > 0)`,
  'a transcript is there exactly when its session is completed': `
    select coalesce(s.id, t.session_id) as id from sessions s
      full join transcripts t on t.account_id = s.account_id and t.session_id = s.id
    where (s.status is not distinct from 'completed') <> (t.session_id is not null)`,
  'a failed session has an error': `select id from sessions where (status = 'failed') <> (error_code is not null)`,
  'an unfinished session has a live job': `
    select id from sessions s where status in ('queued', 'processing') and not exists (
      select from pgboss.job j where j.name = 'transcription' and j.id = s.queue_job_id
        and j.state in ('created', 'retry', 'active'))`,
};

/** Fails the test that left a rule broken. */
export async function expectSound({ db, dataDir }: { db: Db; dataDir: string }): Promise<void> {
  const query = Object.entries(rules)
    .map(([rule, select]) => `select '${rule}' as rule, id::text from (${select}) as broken`)
    .join(' union all ');
  const { rows } = await sql.raw<{ rule: string; id: string }>(query).execute(db);
  expect(rows).toEqual([]);
  // Files are removed after the transaction that makes them superfluous.
  await eventually(
    'files',
    () => misplacedFiles(db, dataDir),
    (misplaced) => misplaced.length === 0,
    5_000,
  );
}

/** Audio without a session that needs it, sessions that need audio without a file, and leftovers of attempts. */
async function misplacedFiles(db: Db, dataDir: string): Promise<string[]> {
  const sessions = await db.selectFrom('sessions').select(['account_id', 'id', 'status', 'audio_deleted_at']).execute();
  const files = await storedFiles(join(dataDir, 'audio'));
  const name = (session: { account_id: string; id: string }) => `${session.account_id}/${session.id}`;
  const mayHave = new Set(sessions.filter((session) => session.audio_deleted_at === null).map(name));
  const mustHave = sessions.filter(({ status }) => status === 'queued' || status === 'processing').map(name);
  const work = await readdir(join(dataDir, 'work')).catch(() => []);
  const running = new Set(sessions.filter(({ status }) => status === 'processing').map(({ id }) => id));
  return [
    ...files.filter((file) => !mayHave.has(file)).map((file) => `superfluous ${file}`),
    ...mustHave.filter((file) => !files.includes(file)).map((file) => `missing ${file}`),
    ...work.filter((file) => !running.has(file.split('.')[1]!)).map((file) => `left in work: ${file}`),
  ];
}

async function storedFiles(audio: string): Promise<string[]> {
  const folders = (await readdir(audio)).filter((folder) => folder !== 'incoming');
  const files = await Promise.all(
    folders.map(async (folder) => (await readdir(join(audio, folder))).map((file) => `${folder}/${file}`)),
  );
  return [...files.flat(), ...(await readdir(join(audio, 'incoming'))).map((file) => `incoming/${file}`)];
}
