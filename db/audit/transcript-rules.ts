/** What must hold of the text of a transcript. When the first rule is broken, which is about its shape, no other is checked. */
import { sql } from 'kysely';
import { storedVersion } from '../sessions/transcripts.ts';
import type { Rows, Rule } from './rule.ts';

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

export const transcripts: Rows = {
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
