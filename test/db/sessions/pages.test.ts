/** What a page costs PostgreSQL, wherever it lies. */
import { sql } from 'kysely';
import { openDatabase } from '../../../db/connection/database.ts';
import { listSessions } from '../../../db/sessions/pages.ts';
import { atEnd } from '../../support/at-end.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { useService } from '../../support/service/use-service.ts';
import type { Database } from '../../../db/connection/database.ts';

const many = 100_000;
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

/** Blocks that a statement reads which is prepared already. */
async function blocksOf(name: string, values: string): Promise<number> {
  const { rows } = await sql
    .raw<{ 'QUERY PLAN': string }>(`explain (analyze, buffers, format json) execute "${name}" (${values})`)
    .execute(single.db);
  const [{ Plan: plan }] = JSON.parse(rows[0]!['QUERY PLAN']) as [{ Plan: Record<string, number> }];
  return plan['Shared Hit Blocks']! + plan['Shared Read Blocks']!;
}

const position = { createdAt: '2026-01-02T00:00:00.000000Z', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' };

/** Of a statement that is prepared already, with the types of its values in their order. */
async function typesOf(name: string): Promise<string[]> {
  const { rows } = await sql<{ types: string }>`
    select parameter_types::text as types from pg_prepared_statements where name = ${name}`.execute(single.db);
  return rows[0]!.types.slice(1, -1).replaceAll('"', '').split(',');
}

/** Reference and language, each named twice, where nobody asks for them. */
const anyFilter = [null, null, null, null];

test.each([
  ['all sessions', 'page', {}, { integer: ['20'] }, 'infinity'],
  ['all sessions', 'page', {}, { integer: ['20'] }, position.createdAt],
  [
    'one status',
    'page-of-1',
    { statuses: ['failed'] as const },
    { text: [...anyFilter, 'failed'] },
    position.createdAt,
  ],
  [
    'one reference',
    'page-of-reference',
    { reference: 'call 7' },
    { text: ['call 7', 'call 7', null, null, 'call 7'] },
    position.createdAt,
  ],
  // There are few of these: a way to them by time alone is the longer, the later it begins.
  [
    'one language',
    'page-of-language-1',
    { language: 'de', statuses: ['failed'] as const },
    { text: [null, null, 'de', 'de', 'failed', 'de'] },
    'infinity',
  ],
])('a page of %s deep in a long list → reads as few blocks', async (_, name, filter, texts, createdAt) => {
  const question = { accountId, limit: 20, after: { ...position, createdAt }, ...filter };
  expect((await listSessions(single.db, question)).length).toBeGreaterThan(3);
  const values: Record<string, readonly (string | null)[]> = {
    ...texts,
    uuid: [accountId, position.id],
    'timestamp with time zone': ['-infinity', createdAt],
    bigint: ['20', '20'],
  };
  const taken = new Map<string, number>();
  const given = (await typesOf(name)).map((type) => {
    const index = taken.get(type) ?? 0;
    taken.set(type, index + 1);
    const value = values[type]?.[index];
    return value === undefined || value === null ? 'null' : `'${value}'`;
  });
  expect(await blocksOf(name, given.join(', '))).toBeLessThan(fewBlocks);
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
