import { indexSession } from '../../db/search/passages.ts';
import { addLanguage } from '../../db/search/languages.ts';
import { languageOf } from '../search/languages.ts';
import { passagesOf } from '../search/session-passages.ts';
import type { Trx } from '../../db/database.ts';
import type { Indexable } from '../search/session-passages.ts';

/**
 * Makes a session findable by its title and, once there is one, by its transcript. The caller's transaction makes the
 * session, or holds the account's lock.
 */
export async function makeFindable(
  trx: Trx,
  { accountId, sessionId }: { accountId: string; sessionId: string },
  session: Indexable,
): Promise<void> {
  const passages = await passagesOf(trx, accountId, session);
  if (session.segments !== undefined) await addLanguage(trx, accountId, languageOf(session.language).mark);
  await indexSession(trx, { accountId, sessionId }, passages, session.segments !== undefined);
}
