import { sql } from 'kysely';
import { whole } from './parts.ts';
import type { Rule } from './rule.ts';

/** An entry that is gone leaves a gap, unless it was the last. */
export const supportLogRule: Rule = {
  id: 'support_log_is_whole',
  rule: 'The log of what support did has no gap, and refuses changes',
  cut: whole,
  looksAt: sql`support_log`,
  broken: sql`
    select number::text as id from (select number, lag(number, 1, 0::bigint) over (order by number) as before from support_log) l
      where number <> before + 1
    union all
    select name from unnest(array['support_log_is_append_only', 'support_log_is_never_truncated']) name
      where not exists (select from pg_trigger
        where tgrelid = 'support_log'::regclass and tgname = name and tgenabled in ('O', 'A'))`,
};
