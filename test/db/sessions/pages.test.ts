/** What a page costs PostgreSQL, wherever it lies. */
import { sql } from 'kysely';
import { openDatabase } from '../../../db/connection/database.ts';
import { listSessions } from '../../../db/sessions/pages.ts';
import { atEnd } from '../../support/at-end.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { useService } from '../../support/service/use-service.ts';
import type { Database } from '../../../db/connection/database.ts';

const many = 30_000;
/** Of 8 KiB each; a page of 20 and the way to it through the index take about a dozen. */
const fewBlocks = 60;

const service = await useService();
let accountId: string;
/** One connection, which keeps its prepared statements. */
let single: Database;
beforeAll(async () => {
  accountId = (await makeAccount(service.db)).id;
  await sql`
    insert into sessions (account_id, id, job_id, queue_job_id, status, title, max_audio_ms, reserved_ms, attempts_left,
      created_at, completed_at, error_code, reference, language)
    select ${accountId}, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'failed', 'one of many', 1, 0, 0,
      '2026-01-01Z'::timestamptz + n * interval '1 minute', now(), 'canceled', 'call ' || n % 400, case n % 400 when 7 then 'de-AT' else 'en-US' end
    from generate_series(1, ${many}) as n`.execute(service.db);
  await sql`analyze sessions`.execute(service.db);
  single = openDatabase(service.databaseUrl, () => {}, { maxConnections: 1 });
  atEnd(single.close);
});

/** Blocks of sessions and their indexes that this connection has read by now, after its last statement. */
async function blocksRead(): Promise<number> {
  await sql`select pg_stat_force_next_flush()`.execute(single.db);
  const { rows } = await sql<{ blocks: number }>`
    select (heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read)::float8 as blocks
    from pg_statio_user_tables where relname = 'sessions'`.execute(single.db);
  return rows[0]!.blocks;
}

const position = { createdAt: '2026-01-02T00:00:00.000000Z', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' };

test.each([
  ['all sessions', {}, 'infinity'],
  ['all sessions', {}, position.createdAt],
  ['one status', { statuses: ['failed'] as const }, position.createdAt],
  ['one reference', { reference: 'call 7' }, position.createdAt],
  // There are few of these: a way to them by time alone is the longer, the later it begins.
  ['one language', { language: 'de', statuses: ['failed'] as const }, 'infinity'],
])('a page of %s deep in a long list → reads as few blocks', async (_, filter, createdAt) => {
  const question = { accountId, limit: 20, after: { ...position, createdAt }, ...filter };
  const before = await blocksRead();
  expect((await listSessions(single.db, question)).length).toBeGreaterThan(3);
  const blocks = (await blocksRead()) - before;
  expect([blocks > 3, blocks < fewBlocks]).toEqual([true, true]);
});

test.each([
  ['earlier than the position', '2026-01-01T12:00:00.000000Z', '2026-01-01 11:59'],
  ['the very moment of the position', '2026-01-02T00:00:00.000000Z', '2026-01-01 23:59'],
  ['later than the position', '2026-01-03T00:00:00.000000Z', '2026-01-02 00:00'],
  ['beyond the calendar', 'infinity', '2026-01-02 00:00'],
])('createdBefore %s → the page begins at whichever is earlier', async (_, createdBefore, first) => {
  const [session] = await listSessions(single.db, { accountId, limit: 1, createdBefore, after: position });
  expect(session!.created_at).toBe(`${first}:00+00`);
});
