/**
 * The order in which accounts take turns: start-time fair queueing. A session's start tag is a point of virtual time, which
 * advances by the seconds of audio that an account has transcribed, divided by how many of its jobs may run at once. The job with the
 * smallest tag is taken next. So a newcomer's job takes the next free place, however many jobs of another account wait.
 */
import { sql } from 'kysely';
import { virtualTime, waitsSince } from '../queue-tables.ts';
import type { RawBuilder } from 'kysely';
import type { AccountWithLimits } from '../accounts/accounts.ts';

/**
 * The largest number of pg-boss's `priority`. Jobs with the same tag are taken in the order of their uploads. If the queue is
 * never empty for 41 days, in which an account has a minute of audio transcribed each second for each of its running jobs, all new jobs
 * have this tag: then they take no turns until the queue is empty once. Nothing is lost by that.
 */
const largest = sql.lit(2_147_483_647);

/**
 * The tag of a session that joins the queue now, in tenths of a second (whole seconds would often tie): now in virtual time,
 * or the end of the account's unfinished job that ends last. The account's last upload counts also when it is done already,
 * while others wait who came before it: otherwise clients that upload again at once would starve the others.
 *
 * @param queue the name of the queue
 * @param account the owner, locked by the caller
 */
export function nextStartTag(
  queue: string,
  account: Pick<AccountWithLimits, 'id' | 'running_jobs'>,
): RawBuilder<number> {
  // When the duration is unknown, it counts as the longest that the audio may have.
  const work = sql`coalesce(duration_ms, max_audio_ms) / 100 * heard_channels`;
  const end = sql`start_tag::bigint + ${work} / ${Math.max(1, account.running_jobs)}::int + 1`;
  return sql<number>`least(${largest}, greatest(0, ${virtualTime(queue)},
    (select max(${end}) from sessions where account_id = ${account.id} and status in ('queued', 'processing')),
    (select ${end}
      from (select * from sessions where account_id = ${account.id} order by created_at desc, id desc limit 1) as last
      where ${waitsSince(queue, sql`created_at`)})))`;
}
