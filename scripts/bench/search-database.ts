/** An account with many transcripts among many sessions of others, all of them in the index as the service writes it. */
import { openDatabase } from '../../db/connection/database.ts';
import { accountMark } from '../../src/search/lexemes.ts';
import { languageOf } from '../../src/search/index-languages.ts';
import { passagesOf } from '../../src/search/session-passages.ts';
import { seedAccounts, seedSessions, settle } from './database.ts';
import { textOf } from './search-texts.ts';
import type { Setting } from './bench.ts';
import type { BenchAccount, BenchDatabase } from './database.ts';

const atATime = 100;
const language = 'en';
export const words = { fewest: 500, most: 5_000 };

export interface Searched {
  account: BenchAccount;
  /** Words, each of one transcript only. */
  own: string[];
  /** Of the account's index, with everything that belongs to it. */
  indexBytes: number;
  /** Of the bare words of its transcripts. */
  textBytes: number;
  /** Of its segments as JSON. */
  segmentBytes: number;
}

/** @param sessions of all accounts @param transcripts of the account that is searched */
export async function seedSearched(
  setting: Setting,
  database: BenchDatabase,
  { sessions, transcripts, others }: { sessions: number; transcripts: number; others: number },
): Promise<Searched> {
  const [account] = await seedAccounts(database, 1);
  await seedSessions(database, transcripts);
  const sizes = await seedTexts(setting, database, account!.id, transcripts);
  await settle(database);
  const [{ bytes }] = (await database.query<{ bytes: number }>(
    `select pg_total_relation_size('passages') as bytes`,
  )) as [{ bytes: number }];
  await seedAccounts(database, others);
  await seedSessions(database, sessions - transcripts);
  await seedTitles(database);
  await settle(database);
  const own = Array.from(
    { length: 100 },
    (_, index) => textOf(Math.floor((index * transcripts) / 100), words.fewest).own,
  );
  return { account: account!, own: [...new Set(own)], indexBytes: bytes, ...sizes };
}

/** Gives every session of the account a transcript, evenly from the shortest to the longest. */
async function seedTexts(setting: Setting, database: BenchDatabase, accountId: string, count: number) {
  const { db, close } = openDatabase(database.url, () => undefined);
  setting.atEnd(close);
  const ids = await database.query<{ id: string; title: string }>(
    'select id, title from sessions where account_id = $1 order by created_at',
    [accountId],
  );
  await database.query('insert into search_languages values ($1, $2)', [accountId, languageOf(language).mark]);
  const sizes = { textBytes: 0, segmentBytes: 0 };
  for (let from = 0; from < count; from += atATime) {
    setting.signal.throwIfAborted();
    const some = ids.slice(from, from + atATime).map(({ id, title }, index) => {
      const number = from + index;
      const length = words.fewest + ((number * 7919) % (words.most - words.fewest));
      const { segments } = textOf(number, length);
      const json = JSON.stringify(
        segments.map((text, place) => ({
          ...{ index: place, startMs: place * 4_000 + 120, endMs: place * 4_000 + 3_480, text, confidence: 0.91 },
        })),
      );
      sizes.textBytes += segments.join(' ').length;
      sizes.segmentBytes += json.length;
      return { id, title, json };
    });
    await database.query(
      `insert into transcripts (account_id, session_id, segments, words)
       select $1, id, segments, '[]' from unnest($2::uuid[], $3::json[]) as t (id, segments)`,
      [accountId, some.map(({ id }) => id), some.map(({ json }) => json)],
    );
    const passages = (
      await Promise.all(
        some.map(async ({ id, title, json }) => {
          const ofSession = await passagesOf(db, accountId, { title, language, segments: json });
          return ofSession.map((passage, number) => ({ id, number, ...passage }));
        }),
      )
    ).flat();
    await database.query(
      `insert into passages (account_id, session_id, number, created_at, of_transcript, first_segment, starts, words)
       select $1, s.id, p.number, s.created_at, true, p.first_segment, p.starts::smallint[], p.words::tsvector
       from unnest($2::uuid[], $3::int[], $4::int[], $5::text[], $6::text[])
         as p (id, number, first_segment, starts, words)
       join sessions s on s.account_id = $1 and s.id = p.id`,
      [
        accountId,
        passages.map(({ id }) => id),
        passages.map(({ number }) => number),
        passages.map(({ firstSegment }) => firstSegment),
        passages.map(({ starts }) => `{${starts.join(',')}}`),
        passages.map(({ words: text }) => text),
      ],
    );
  }
  return sizes;
}

/** What others have in the index: their titles. */
async function seedTitles({ query }: BenchDatabase): Promise<void> {
  const accounts = await query<{ id: string }>('select id from accounts');
  await query(
    `insert into passages (account_id, session_id, number, created_at, of_transcript, first_segment, starts, words)
     select s.account_id, s.id, 0, s.created_at, true, 0, '{}',
       (select string_agg($3 || mark || '--' || lower(word) || $3 || ':' || place, ' ')
        from unnest(string_to_array(s.title, ' ')) with ordinality as t (word, place))::tsvector
     from sessions s join unnest($1::uuid[], $2::text[]) as a (id, mark) on a.id = s.account_id
     where not exists (select from passages p where p.account_id = s.account_id and p.session_id = s.id)`,
    [accounts.map(({ id }) => id), accounts.map(({ id }) => `${accountMark(id)}`), "'"],
  );
}
