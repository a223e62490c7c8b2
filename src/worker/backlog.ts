/** Sessions of an older version of the service become findable, one after the other, while the service runs. */
import { inAccountTransaction } from '../../db/accounts/account-transaction.ts';
import { isDatabaseUnavailable } from '../../db/connection/database-errors.ts';
import { findUnindexed, firstPlace, indexSession, indexVersion } from '../../db/search/passages.ts';
import { findSessionRow } from '../../db/sessions/sessions.ts';
import { findSegments } from '../../db/sessions/transcripts.ts';
import { ageLease } from '../../db/leases.ts';
import { searchDocumentOf } from '../search/passages.ts';
import { minuteMs, repeat } from './sweeps.ts';
import type { Db, Queryable } from '../../db/connection/database.ts';
import type { SessionPlace } from '../../db/search/passages.ts';
import type { WorkerContext } from './worker-context.ts';

/** A worker of an older version may still store transcripts after this one has begun. */
const againAfterSeconds = 60 * 60;
/** A look takes minutes where there are millions of sessions, and each of them may be one that can't be indexed. */
const soonSeconds = 10 * 60;
const atATime = 500;

type Indexer = Pick<WorkerContext, 'db' | 'log' | 'stopping'>;

/** Whose turn it is to look through all sessions. A new version of the index looks anew. */
export const backlogLease = `index ${indexVersion} looked through`;

/** Every hour, one worker of all looks through all sessions, first at once, until the worker stops. */
export const keepIndexing = (worker: Indexer): Promise<void> =>
  repeat(worker, minuteMs, () => indexBacklog(worker), { name: backlogLease, everySeconds: againAfterSeconds });

/** All are looked through again ten minutes after the last time: a session is stored that can't be found. */
export const scheduleBacklogScan = (db: Queryable): Promise<void> =>
  ageLease(db, backlogLease, againAfterSeconds - soonSeconds);

/** Puts all sessions that are missing in the search index into it, each in a transaction of its own. */
export async function indexBacklog({ db, log, stopping }: Indexer): Promise<void> {
  let after: SessionPlace = firstPlace;
  let indexed = 0;
  for (let looked = atATime; looked === atATime && !stopping.aborted;) {
    const sessions = await findUnindexed(db, after, atATime);
    for (const session of sessions.filter(({ isMissing }) => isMissing)) {
      if (stopping.aborted) break;
      // One that can't be indexed stops no other: the database judges each by itself.
      const error = await index(db, session).then(() => undefined, asDatabaseError);
      if (error === undefined) indexed += 1;
      else log.error({ err: error, sessionId: session.id }, 'a session can not be put into the search index');
    }
    looked = sessions.length;
    after = sessions.at(-1) ?? after;
  }
  if (indexed > 0) log.info({ sessions: indexed }, 'older sessions can be searched now');
}

/** @throws unless it is an answer of the database about what it was given */
function asDatabaseError(error: unknown): unknown {
  if (isDatabaseUnavailable(error)) throw error;
  return error;
}

async function index(db: Db, { accountId, id }: SessionPlace): Promise<void> {
  const session = await findSessionRow(db, accountId, id);
  if (session === undefined) return;
  const segments = await findSegments(db, accountId, id);
  const { title, language, transcript_version: version } = session;
  const findable = await searchDocumentOf(db, accountId, { title, language, segments });
  await inAccountTransaction(db, accountId, async (trx) => {
    const current = await findSessionRow(trx, accountId, id);
    // Whoever completed it meanwhile made it findable, or the next look does.
    if (current?.transcript_version !== version) return;
    await indexSession(trx, { accountId, sessionId: id }, findable);
  });
}
