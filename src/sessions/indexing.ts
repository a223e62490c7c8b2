import { addLanguage, replacePassages } from '../../db/search/passages.ts';
import { languageOf } from '../search/index-languages.ts';
import { passagesOf } from '../search/passages.ts';
import type { Queryable, Trx } from '../../db/connection/database.ts';
import type { Indexable } from '../search/passages.ts';

/**
 * What the search index holds of a session. For a day of speech that takes a second, so it is done before the account is
 * locked.
 *
 * @param db knows the stems of words, and is not changed
 * @returns with the mark of its transcript's language; undefined while there is none
 */
export async function searchDocumentOf(db: Queryable, accountId: string, session: Indexable) {
  const passages = await passagesOf(db, accountId, session);
  return { passages, language: session.segments === undefined ? undefined : languageOf(session.language).mark };
}

/**
 * Indexes a session by its title and, once there is one, by its transcript. Idempotent. The caller's transaction makes the
 * session, or holds the account's lock.
 */
export async function indexSession(
  trx: Trx,
  { accountId, sessionId }: { accountId: string; sessionId: string },
  { passages, language }: Awaited<ReturnType<typeof searchDocumentOf>>,
): Promise<void> {
  if (language !== undefined) await addLanguage(trx, accountId, language);
  await replacePassages(trx, { accountId, sessionId }, passages, language !== undefined);
}
