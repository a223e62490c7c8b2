import { sql } from 'kysely';
import { Prepared } from '../connection/prepared.ts';
import type { Queryable, Trx } from '../connection/database.ts';

const spoken = new Prepared<{ accountId: string }, { mark: string }>('search-languages', (db, parameter) =>
  db.selectFrom('search_languages').select('mark').where('account_id', '=', parameter('accountId')),
);

/** The marks of the languages that the transcripts of an account are in, or were. */
export async function findLanguages(db: Queryable, accountId: string): Promise<string[]> {
  return (await spoken.run(db, { accountId })).map(({ mark }) => mark);
}

/** Forgets them, when an account is erased. */
export async function deleteLanguages(trx: Trx, accountId: string): Promise<void> {
  await trx.deleteFrom('search_languages').where('account_id', '=', accountId).execute();
}

/** Remembers that an account has a transcript in a language. */
export async function addLanguage(trx: Trx, accountId: string, mark: string): Promise<void> {
  await sql`insert into search_languages values (${accountId}, ${mark}) on conflict do nothing`.execute(trx);
}
