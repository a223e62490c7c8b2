/**
 * What must hold of the search index. It is judged by what the rows say, and not by the code that makes it: otherwise
 * nobody would see a fault of that code.
 */
import { sql } from 'kysely';
import { bySession } from './parts.ts';
import { indexVersion } from '../search/passages.ts';
import type { Rule } from './rule.ts';

export const searchRules: Rule[] = [
  {
    id: 'session_is_indexed',
    rule: 'A session is in the search index, a completed one with its transcript and by the current version of the index',
    cut: bySession,
    looksAt: sql`sessions`,
    // After an update the worker indexes everything anew, which takes a while.
    broken: sql`select id from sessions s where not exists (
        select from passages p where p.account_id = s.account_id and p.session_id = s.id and p.number = 0)
      or exists (select from passages p where p.account_id = s.account_id and p.session_id = s.id
        and (p.of_transcript <> (s.status = 'completed')
          or s.status = 'completed' and p.version <> ${sql.lit(indexVersion)}))`,
  },
  {
    id: 'index_is_whole',
    rule: 'The passages of a session follow each other from its title to its last segment, and are of its moment',
    cut: bySession,
    looksAt: sql`passages`,
    broken: sql`
      select session_id as id
      from (
        select p.*, s.title, t.segments, s.created_at as right_time,
          lag(p.number) over place as last_number,
          lag(p.first_segment + cardinality(p.starts)) over place as next_of_last,
          case when lead(p.number) over place is null then p.first_segment + cardinality(p.starts) end as end_segment
        from passages p
          left join sessions s on s.account_id = p.account_id and s.id = p.session_id
          left join transcripts t on p.of_transcript and t.account_id = p.account_id and t.session_id = p.session_id
        window place as (partition by p.account_id, p.session_id order by p.number)
      ) as p
      where created_at is distinct from right_time or number <> coalesce(last_number + 1, 0)
        or first_segment > coalesce(next_of_last, 0) or end_segment > coalesce(json_array_length(segments), 0)
        or end_segment < json_array_length(segments) and exists (
          select from json_array_elements(segments) with ordinality as left_out (segment, place)
          where place > end_segment and segment ->> 'text' ~ '[[:alnum:]]')
        or length(words) = 0 and (title ~ '[[:alnum:]]' or cardinality(starts) > 0 and segments ->> first_segment ~ '[[:alnum:]]')
      group by session_id`,
  },
];
