/** What the database says about a lane's sessions and jobs. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { transcriptionQueue } from '../../src/queue/queue.ts';
import type { Lane } from './lane.ts';

export const sessionStates = (lane: Lane) =>
  lane.db.selectFrom('sessions').select(['id', 'status', 'attempt']).execute();

/** How many completed sessions still have their audio on disk. */
export async function completedWithAudio(lane: Lane): Promise<number> {
  const sessions = await sessionStates(lane);
  const hasFile = (id: string) => existsSync(join(lane.dataDir, 'audio', lane.account.id, id));
  return sessions.filter(({ id, status }) => status === 'completed' && hasFile(id)).length;
}

/** How many jobs have used up the attempts that the queue gave them. */
export async function countDeadJobs(lane: Lane): Promise<number> {
  const { rows } = await sql<{ dead: number }>`select count(*) as dead from pgboss.job
    where name = ${transcriptionQueue} and state = 'failed'`.execute(lane.db);
  return rows[0]!.dead;
}
