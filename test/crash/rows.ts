/** What the database says about a lane's uploads. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { transcriptionQueue } from '../../src/queue/queue.ts';
import type { Db } from '../../db/database.ts';
import type { Lane } from './lane.ts';

export const sessionStates = (lane: Lane) =>
  lane.db().selectFrom('sessions').select(['id', 'status', 'attempt']).execute();

/** How many completed sessions still have their audio on disk. */
export async function completedWithAudio(lane: Lane): Promise<number> {
  const sessions = await sessionStates(lane);
  const hasFile = (id: string) => existsSync(join(lane.dataDir, 'audio', lane.account.id, id));
  return sessions.filter(({ id, status }) => status === 'completed' && hasFile(id)).length;
}

/** How many jobs have used up the attempts that the queue gave them. */
export async function countDeadJobs(lane: Lane): Promise<number> {
  const { rows } = await sql<{ dead: number }>`select count(*) as dead from pgboss.job
    where name = ${transcriptionQueue} and state = 'failed'`.execute(lane.db());
  return rows[0]!.dead;
}

/** A session of an upload, with what was recorded and charged for it. */
export interface UploadRow {
  title: string;
  id: string;
  status: string;
  duration_ms: number | null;
  attempt: number;
  /** The session of the upload's Idempotency-Key, which is its title here. */
  recorded_id: string | null;
  charges: number[];
}

/** @param begin of the uploads' names */
export async function uploadRows(db: Db, accountId: string, begin: string): Promise<UploadRow[]> {
  const { rows } = await sql<UploadRow>`
    select s.title, s.id, s.status, s.duration_ms, s.attempt, i.session_id as recorded_id,
      array(select amount_ms::float8 from ledger l where l.account_id = s.account_id and l.session_id = s.id) as charges
    from sessions s left join idempotency i on i.account_id = s.account_id and i.key = s.title
    where s.account_id = ${accountId} and s.title like ${`${begin}%`}`.execute(db);
  return rows;
}
