/** What must hold of all rows, checked by PostgreSQL itself. What a constraint of the schema says is no rule: PostgreSQL refuses such a row. */
import { sql } from 'kysely';
import { inSnapshot } from '../connection/transaction.ts';
import { isOutOfTurn, liveJobs } from '../queue-tables.ts';
import { indexVersion } from '../search/passages.ts';
import { storedVersion } from '../sessions/transcripts.ts';
import type { RawBuilder } from 'kysely';
import type { Db, Trx } from '../connection/database.ts';

/** Rows, and what must hold of each of them. They are read once for all their rules. */
interface Rows {
  /** The part after `from` in a query. */
  from: RawBuilder<unknown>;
  /** How a row is named where it breaks a rule. */
  id: RawBuilder<unknown>;
  rules: Rule[];
}

interface Rule {
  /** A name that never changes, for programs. */
  id: string;
  /** A sentence for people. */
  rule: string;
  /** Which of the rows it looks at; all of them without it. */
  of?: RawBuilder<unknown>;
  /** True for a row that breaks it. */
  breaks: RawBuilder<unknown>;
}

export interface Check {
  id: string;
  rule: string;
  /** How many rows or files it looked at. */
  checked: number;
  breaches: number;
  /** The ids of the first few breaches. */
  examples: string[];
}

export const maxExamples = 5;

/** Checks all rules in one snapshot. @param onProgress gets the checked part of them, 0 to 1 */
export function checkRows(db: Db, queue: string, onProgress: (done: number) => void = () => {}): Promise<Check[]> {
  const all = [
    accounts,
    { ...sessions, rules: [...sessions.rules, hasJob(queue)] },
    charges,
    idempotency,
    passages,
    jobs(queue),
    supportLog,
    transcripts,
  ];
  return inSnapshot(db, async (snapshot) => {
    const checks: Check[] = [];
    for (const [index, rows] of all.entries()) {
      checks.push(...(await check(snapshot, rows)));
      onProgress((index + 1) / all.length);
    }
    return checks;
  });
}

/** Only numbers and some examples come back, however many rows there are. */
async function check(snapshot: Trx, { from, id, rules }: Rows): Promise<Check[]> {
  const counts = rules.map(
    ({ of = sql`true`, breaks }) => sql`json_build_object('checked', count(*) filter (where ${of}),
      'breaches', count(*) filter (where ${of} and (${breaks})))`,
  );
  const counted = await sql<{ counts: Pick<Check, 'checked' | 'breaches'>[] }>`
    select json_build_array(${sql.join(counts)})::jsonb as counts from ${from}`.execute(snapshot);
  const checks: Check[] = [];
  for (const [index, { id: name, rule, of = sql`true`, breaks }] of rules.entries()) {
    const { checked, breaches } = counted.rows[0]!.counts[index]!;
    const broken = sql<{ id: string }>`select (${id})::text as id from ${from} where ${of} and (${breaks})
      order by 1 limit ${sql.lit(maxExamples)}`;
    const examples = breaches === 0 ? [] : (await broken.execute(snapshot)).rows.map((row) => row.id);
    checks.push({ id: name, rule, checked, breaches, examples });
  }
  return checks;
}

const accounts: Rows = {
  from: sql`accounts a`,
  id: sql`a.id`,
  rules: [
    {
      id: 'balance_is_ledger',
      rule: 'An account has the balance that its ledger adds up to',
      breaks: sql`a.balance_ms <> (select coalesce(sum(amount_ms), 0) from ledger l where l.account_id = a.id)`,
    },
    {
      id: 'reserved_is_running',
      rule: 'An account reserves what its queued and processing sessions do',
      breaks: sql`a.reserved_ms <> (select coalesce(sum(reserved_ms), 0) from sessions s
        where s.account_id = a.id and s.status in ('queued', 'processing'))`,
    },
    {
      id: 'erased_is_gone',
      rule: 'Of an erased account nothing is left but amounts',
      of: sql`a.deleted_at is not null`,
      breaks: sql`(a.name <> '' or exists (select from sessions s where s.account_id = a.id)
        or exists (select from api_keys k where k.account_id = a.id)
        or exists (select from idempotency i where i.account_id = a.id)
        or exists (select from search_languages l where l.account_id = a.id)
        or exists (select from ledger l where l.account_id = a.id and (l.reason is not null or l.reference is not null)))`,
    },
  ],
};

const isCompleted = sql`s.status = 'completed'`;
const isUnfinished = sql`s.status in ('queued', 'processing')`;
/**
 * Whether anything was said. PostgreSQL compares the lengths first and does not even read a transcript. Without one, nothing is
 * known.
 */
const hasSpeech = sql`t.segments::text <> '[]'`;

/** Sessions `s`, each with its transcript `t` and its charge `l`. Charges of erased sessions stay. */
const sessions: Rows = {
  from: sql`sessions s left join transcripts t on t.account_id = s.account_id and t.session_id = s.id
    left join ledger l on l.account_id = s.account_id and l.session_id = s.id and l.kind = 'charge'`,
  id: sql`s.id`,
  rules: [
    {
      id: 'speech_is_charged_once',
      rule: 'A completed session with speech is charged exactly once',
      of: sql`${isCompleted} and ${hasSpeech}`,
      breaks: sql`l.id is null`,
    },
    {
      id: 'charge_is_duration',
      rule: 'A charge is the duration of its session, less at most what it warns of',
      of: sql`${isCompleted} and ${hasSpeech} and l.id is not null`,
      breaks: sql`l.amount_ms <> -s.charged_ms::bigint or s.charged_ms > s.duration_ms
        or s.charged_ms < s.duration_ms - (select coalesce(sum((w->>'endMs')::bigint - (w->>'startMs')::bigint), 0)
          from json_array_elements(s.warnings) w)`,
    },
    {
      id: 'only_speech_is_charged',
      rule: 'Only a completed session in which something was said is charged',
      breaks: sql`(l.id is not null and not coalesce(${isCompleted} and ${hasSpeech}, true))`,
    },
    {
      id: 'charge_is_told',
      rule: 'A completed session, and no other, says what was charged for it',
      breaks: sql`(${isCompleted}) <> (s.charged_ms is not null) or not ${hasSpeech} and s.charged_ms > 0`,
    },
    {
      id: 'completed_has_transcript',
      rule: 'A completed session has a transcript',
      of: isCompleted,
      breaks: sql`t.session_id is null`,
    },
    {
      id: 'decoded_is_measured',
      rule: 'A completed session is as long as was measured, or was shorter twice',
      of: sql`${isCompleted} and s.measured_ms is not null`,
      // The tolerance is that of src/audio/tracks.ts, which decodes shorter audio twice. What is decoded is charged, so
      // nothing explains audio that is longer than its file.
      breaks: sql`(not s.confirmed_short and s.duration_ms < s.measured_ms - (s.measured_ms * 0.01 + 1000)
        or s.duration_ms > s.measured_ms + (s.measured_ms * 0.01 + 1000))`,
    },
    {
      id: 'retention_is_kept',
      rule: 'A session is deleted within an hour of its deleteAt',
      of: sql`s.delete_at is not null`,
      breaks: sql`s.delete_at < now() - interval '1 hour'`,
    },
    {
      id: 'session_is_indexed',
      rule: 'A session is in the search index, a completed one with its transcript and by the current version of the index',
      // After an update the worker indexes everything anew, which takes a while.
      breaks: sql`(not exists (
          select from passages p where p.account_id = s.account_id and p.session_id = s.id and p.number = 0)
        or exists (select from passages p where p.account_id = s.account_id and p.session_id = s.id
          and (p.of_transcript <> (${isCompleted}) or ${isCompleted} and p.version <> ${sql.lit(indexVersion)})))`,
    },
  ],
};

const hasJob = (queue: string): Rule => ({
  id: 'unfinished_has_job',
  rule: 'A queued or processing session has a live job',
  of: isUnfinished,
  breaks: sql`not exists (select from ${liveJobs(queue)} and j.id = s.queue_job_id)`,
});

const charges: Rows = {
  from: sql`ledger l left join sessions s on s.id = l.session_id`,
  id: sql`l.id`,
  rules: [
    {
      id: 'charge_is_of_own_session',
      rule: 'A charge is for a session of its own account',
      of: sql`l.kind = 'charge'`,
      breaks: sql`s.account_id <> l.account_id`,
    },
  ],
};

const idempotency: Rows = {
  from: sql`idempotency i`,
  id: sql`i.session_id`,
  rules: [
    {
      id: 'idempotency_names_session',
      rule: 'An idempotency record names a session of its account, and its job',
      breaks: sql`not exists (
        select from sessions s where s.account_id = i.account_id and s.id = i.session_id and s.job_id = i.job_id)`,
    },
  ],
};

/** Judged by what the rows say, and not by the code that makes the index: otherwise a fault of that code would go unseen. */
const passages: Rows = {
  from: sql`(
    select p.session_id, p.number, p.first_segment, p.created_at, s.created_at as right_time,
      length(p.words) as length, cardinality(p.starts) as segments_in, s.title, t.segments,
      lag(p.number) over place as last_number,
      lag(p.first_segment + cardinality(p.starts)) over place as next_of_last,
      case when lead(p.number) over place is null then p.first_segment + cardinality(p.starts) end as end_segment
    from passages p
      left join sessions s on s.account_id = p.account_id and s.id = p.session_id
      left join transcripts t on p.of_transcript and t.account_id = p.account_id and t.session_id = p.session_id
    window place as (partition by p.account_id, p.session_id order by p.number)
  ) as p`,
  id: sql`p.session_id`,
  rules: [
    {
      id: 'index_is_whole',
      rule: 'The passages of a session follow each other from its title to its last segment, and are of its moment',
      breaks: sql`(created_at is distinct from right_time or number <> coalesce(last_number + 1, 0)
        or first_segment > coalesce(next_of_last, 0) or end_segment > coalesce(json_array_length(segments), 0)
        or end_segment < json_array_length(segments) and exists (
          select from json_array_elements(segments) with ordinality as left_out (segment, place)
          where place > end_segment and segment ->> 'text' ~ '[[:alnum:]]')
        or length = 0 and (title ~ '[[:alnum:]]' or segments_in > 0 and segments ->> first_segment ~ '[[:alnum:]]'))`,
    },
  ],
};

const jobs = (queue: string): Rows => ({
  from: sql`(select j.* from ${liveJobs(queue)}) as j left join sessions s on s.queue_job_id = j.id and ${isUnfinished}`,
  id: sql`j.id`,
  rules: [
    {
      id: 'job_has_session',
      rule: 'A live job is that of a queued or processing session',
      breaks: sql`s.id is null`,
    },
    {
      id: 'job_stands_in_turn',
      rule: "A live job stands in the queue where its session's start tag says",
      breaks: isOutOfTurn,
    },
  ],
});

/** Its entries, and triggers that are missing. */
const supportLog: Rows = {
  from: sql`(
    select number::text as id, number <> lag(number, 1, 0::bigint) over (order by number) + 1 as broken from support_log
    union all
    select name, true from unnest(array['support_log_is_append_only', 'support_log_is_never_truncated']) name
    where not exists (select from pg_trigger
      where tgrelid = 'support_log'::regclass and tgname = name and tgenabled in ('O', 'A'))
  ) as l`,
  id: sql`id`,
  rules: [
    {
      id: 'support_log_is_whole',
      rule: 'The log of what support did has no gap, and refuses changes',
      // An entry that is gone leaves a gap, unless it was the last.
      breaks: sql`broken`,
    },
  ],
};

/** The characters that JavaScript's `trim` removes, for a jsonpath. */
const space = '[\\\\s\\\\u00a0\\\\u1680\\\\u2000-\\\\u200a\\\\u2028\\\\u2029\\\\u202f\\\\u205f\\\\u3000\\\\ufeff]';
const isUntrimmed = `@.text == "" || @.text like_regex "^${space}|${space}$"`;
const isWhole = (name: string) => `@.${name}.type() == "number" && @.${name}.floor() == @.${name}`;
const isConfidence = '(!exists(@.confidence) || @.confidence >= 0 && @.confidence <= 1)';
const isWord = `${isWhole('startMs')} && ${isWhole('endMs')} && @.text.type() == "string" && ${isConfidence}`;

/** Whether a jsonpath finds anything. @param vars jsonb, whose members the path calls `$name` */
const finds = (column: string, path: string, vars = `'{}'`) =>
  sql.raw(`coalesce(jsonb_path_exists(${column}, '${path}', ${vars}, true), true)`);

// JSON text that PostgreSQL can't read: it holds half a character, or the character 0.
const unreadable = String.raw`(^|[^\\])(\\\\)*\\u(0000|[dD][89a-fA-F])`;

/** Transcripts as JSON. `segments` and `words` are null where they can't be read. */
const read = sql`
  select t.session_id, s.status, s.duration_ms, s.transcript_version, t.segments::text as segments_text, t.words::text as words_text,
    ${readJson('t.segments')} as segments, ${readJson('t.words')} as words
  from transcripts t left join sessions s on s.account_id = t.account_id and s.id = t.session_id`;

function readJson(column: string) {
  const text = `${column}::text`;
  return sql.raw(`case when strpos(${text}, '\\u') = 0 or ${text} !~ '${unreadable}' then ${text}::jsonb end`);
}

const misshapen = sql`(segments is null or words is null or jsonb_typeof(segments) <> 'array' or jsonb_typeof(words) <> 'array'
  or ${finds('segments', 'strict $[*] ? (@.type() != "object")')}
  or ${finds('segments', `$[*] ? (!(${isWhole('index')} && ${isWord}))`)}
  or ${finds('words', 'strict $[*] ? (@.type() != "array")')}
  or ${finds('words', 'strict $[*][*] ? (@.type() != "object")')}
  or ${finds('words', `$[*][*] ? (!(${isWord}))`)})`;

const ofRightShape: Rule[] = [
  {
    id: 'segments_are_numbered',
    rule: 'Segments are numbered from 0 in their order',
    breaks: sql`exists (select from jsonb_array_elements(segments) with ordinality as e (segment, position)
      where (segment->>'index')::numeric <> position - 1)`,
  },
  {
    id: 'segments_are_sorted',
    rule: 'Segments are sorted by their start',
    breaks: sql`exists (select from (
        select startMs, lag(startMs) over (order by position) as before from (
          select (segment->>'startMs')::numeric as startMs, position
          from jsonb_array_elements(segments) with ordinality as e (segment, position)) as starts) as pairs
      where startMs < before)`,
  },
  {
    id: 'segments_are_within',
    rule: 'Segments lie within the audio: 0 ≤ start ≤ end ≤ duration',
    breaks: finds(
      'segments',
      '$[*] ? (!(0 <= @.startMs && @.startMs <= @.endMs && @.endMs <= $d))',
      `jsonb_build_object('d', duration_ms)`,
    ),
  },
  {
    id: 'texts_are_trimmed',
    rule: 'Texts of segments and words are trimmed and not empty',
    breaks: sql`(${finds('segments', `$[*] ? (${isUntrimmed})`)} or ${finds('words', `$[*][*] ? (${isUntrimmed})`)})`,
  },
  {
    id: 'words_are_per_segment',
    rule: 'There is a list of words for each segment',
    breaks: sql`jsonb_array_length(words) <> jsonb_array_length(segments)`,
  },
  {
    id: 'words_are_within',
    rule: 'Words lie within their segment: its start ≤ start ≤ end ≤ its end',
    breaks: sql`exists (
      select from rows from (jsonb_array_elements(segments), jsonb_array_elements(words)) as pair (segment, list)
      where segment is not null and list is not null and ${finds(
        'list',
        '$[*] ? (!($s <= @.startMs && @.startMs <= @.endMs && @.endMs <= $e))',
        `jsonb_build_object('s', segment->'startMs', 'e', segment->'endMs')`,
      )})`,
  },
  {
    id: 'version_is_hash',
    rule: 'The version of a transcript is the hash of what is stored',
    breaks: sql`coalesce(transcript_version <> ${storedVersion}, false)`,
  },
];

/** Where the rule about the shape of a transcript is broken, none of those about what it says is looked at. */
const transcripts: Rows = {
  // `offset 0` keeps PostgreSQL from merging the steps: many rules use a transcript, and it is read only once.
  from: sql`(select *, ${misshapen} as misshapen from (${read} offset 0) as read offset 0) as t`,
  id: sql`session_id`,
  rules: [
    {
      id: 'transcript_is_of_completed',
      rule: 'A transcript is of a completed session',
      breaks: sql`status is distinct from 'completed'`,
    },
    {
      id: 'transcript_shape',
      rule: 'A transcript is made of segments and words, with whole ms and texts',
      breaks: sql`misshapen`,
    },
    ...ofRightShape.map(({ breaks, ...rule }) => ({
      ...rule,
      breaks: sql`case when misshapen then false else ${breaks} end`,
    })),
  ],
};
