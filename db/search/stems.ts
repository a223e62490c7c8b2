import { sql } from 'kysely';
import { NamedQuery } from '../connection/named-query.ts';
import type { Queryable } from '../connection/database.ts';

interface Values {
  dictionaries: string[];
  words: string[];
}

// A dictionary answers nothing for its very common words. No stem has a space.
const stems = new NamedQuery<Values, { stems: string }>('stems', (db, parameter) =>
  db
    .selectFrom(
      sql<{ stems: string; place: number }>`(
        select string_agg(coalesce((ts_lexize(d.name::regdictionary, w.word))[1], ''), ' ' order by w.place) as stems,
          d.place
        from unnest(${parameter('dictionaries')}::text[]) with ordinality as d (name, place)
        cross join unnest(${parameter('words')}::text[]) with ordinality as w (word, place)
        group by d.place)`.as('found'),
    )
    .select('stems')
    .orderBy('place'),
);

/**
 * The stems of words, by dictionaries of PostgreSQL such as `german_stem`.
 *
 * @param words in lower case
 * @returns for each dictionary, in their order, the stem of each word; an empty one of what is very common
 */
export async function findStems(
  db: Queryable,
  dictionaries: readonly string[],
  words: readonly string[],
): Promise<Map<string, string>[]> {
  if (words.length === 0) return dictionaries.map(() => new Map());
  const rows = await stems.run(db, { dictionaries: [...dictionaries], words: [...words] });
  return rows.map((row) => {
    const texts = row.stems.split(' ');
    return new Map(words.map((word, index) => [word, texts[index]!]));
  });
}
