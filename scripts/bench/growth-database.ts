/** Databases of several sizes in one PostgreSQL, so that rounds can change between them. */
import { encodeCursor } from '../../src/api/reads/cursor.ts';
import { rfc3339 } from '../../db/connection/values.ts';
import { addDatabase, seedAccounts, seedSessions, seedTranscripts, settle } from './database.ts';
import { startApiProgram } from './program.ts';
import { writeTargets } from './wrk.ts';
import type { Setting } from './bench.ts';
import type { BenchAccount, BenchDatabase } from './database.ts';
import type { Program } from './program.ts';

export const segments = 100;
const differentPages = 1_000;
const limit = 20;
const deepPage = 10_000;
export const readWorks = ['page 1', 'page 10,000', 'page 1 of one status', 'one session', 'transcript'] as const;
export type ReadWork = (typeof readWorks)[number];

export interface Grown {
  sessions: number;
  database: BenchDatabase;
  api: Program;
  /** The account that has half of all sessions. */
  largest: BenchAccount;
  /**
   * The number of the page that is read as page 10,000: an account with fewer than 200,000 sessions has no such page.
   */
  page: number;
  /** For {@link load}. */
  targets: Record<ReadWork, string>;
}

export async function grow(setting: Setting, server: BenchDatabase, sessions: number): Promise<Grown> {
  const database = await addDatabase(setting, server, `sessions_${sessions}`);
  const [largest] = await seedAccounts(database, 1);
  await seedSessions(database, sessions / 2);
  const others = await seedAccounts(database, setting.sized({ full: 999, quick: 99, tiny: 9 }));
  await seedSessions(database, sessions / 2);
  await seedTranscripts(database, 10, segments);
  // One session in a thousand failed, for the filter by status.
  await database.query(`update sessions set status = 'failed', error_code = 'canceled', transcript_version = null
    where ('x' || right(id::text, 6))::bit(24)::int % 1000 = 0
      and not exists (select from transcripts where session_id = sessions.id)`);
  await settle(database);

  const accounts = [largest!, ...others];
  const keys = new Map(accounts.map(({ id, key }) => [id, key]));
  const bearer = (accountId: string) => ({ Authorization: `Bearer ${keys.get(accountId)}` });
  const anyOf = (table: string, column: string) =>
    database.query<{ account_id: string; id: string }>(
      `select account_id, ${column} as id from ${table} order by random() limit 5000`,
    );
  const page = Math.min(deepPage, Math.floor((0.9 * sessions) / 2 / limit));
  const ofLargest = (query: string) => ({ path: `/v1/sessions?limit=${limit}&${query}`, headers: bearer(largest!.id) });
  const paths = {
    // Each request is a little different, because equal requests of the same moment share an answer.
    'page 1': Array.from({ length: differentPages }, (_, index) =>
      ofLargest(`createdBefore=2100-01-01T00:00:00.${String(index).padStart(6, '0')}Z`),
    ),
    'page 10,000': (await positionsBefore(database, largest!.id, page)).map((cursor) => ofLargest(`cursor=${cursor}`)),
    'page 1 of one status': [ofLargest('status=failed')],
    'one session': (await anyOf('sessions', 'id')).map(({ account_id, id }) => ({
      ...{ path: `/v1/sessions/${id}`, headers: bearer(account_id) },
    })),
    transcript: (await anyOf('transcripts', 'session_id')).map(({ account_id, id }) => ({
      ...{ path: `/v1/sessions/${id}/transcript`, headers: bearer(account_id) },
    })),
  };
  const targets = {} as Record<ReadWork, string>;
  for (const work of readWorks) {
    const name = `${sessions}-${work.replaceAll(/\W/g, '-')}`;
    targets[work] = await writeTargets(setting, name, paths[work]);
  }
  const api = await startApiProgram(setting, database.url, { NODE_ENV: 'production' });
  return { sessions, database, api, largest: largest!, page, targets };
}

/**
 * Cursors of a page, and of pages that begin a session later. A client would have them after it has read all pages
 * before.
 */
async function positionsBefore({ query }: BenchDatabase, accountId: string, page: number): Promise<string[]> {
  const rows = await query<{ created_at: string; id: string }>(
    `select created_at, id from sessions where account_id = $1 order by created_at desc, id desc offset $2 limit $3`,
    [accountId, (page - 1) * limit - 1, differentPages],
  );
  return rows.map(({ created_at, id }) => encodeURIComponent(encodeCursor({ createdAt: rfc3339(created_at), id }, {})));
}
