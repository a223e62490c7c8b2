/** What must hold between sessions and the queue's jobs (pg-boss). */
import { sql } from 'kysely';
import { whole } from './parts.ts';
import { isOutOfTurn, liveJobs } from '../queue-tables.ts';
import { isUnfinished } from './rule.ts';
import type { Rule } from './rule.ts';

/** @param work the name of the queue */
export function jobRules(work: string): Rule[] {
  return [
    {
      id: 'unfinished_has_job',
      rule: 'A queued or processing session has a live job',
      cut: whole,
      looksAt: sql`sessions where ${isUnfinished}`,
      broken: sql`select id from sessions s where ${isUnfinished}
        and not exists (select from ${liveJobs(work)} and j.id = s.queue_job_id)`,
    },
    {
      id: 'job_has_session',
      rule: 'A live job is that of a queued or processing session',
      cut: whole,
      looksAt: liveJobs(work),
      broken: sql`select j.id from ${liveJobs(work)}
        and not exists (select from sessions s where s.${isUnfinished} and s.queue_job_id = j.id)`,
    },
    {
      id: 'job_stands_in_turn',
      rule: "A live job stands in the queue where its session's start tag says",
      cut: whole,
      looksAt: liveJobs(work),
      broken: sql`select j.id from sessions s, ${liveJobs(work)} and s.${isUnfinished} and ${isOutOfTurn}`,
    },
  ];
}
