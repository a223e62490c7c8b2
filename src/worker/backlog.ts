/** Sessions of an older version of the service become findable, one after the other, while the service runs. */
import { setTimeout as sleep } from 'node:timers/promises';
import { inAccountTransaction } from '../../db/account-transaction.ts';
import { isDatabaseAway } from '../../db/database-errors.ts';
import { firstPlace, lookForUnindexed } from '../../db/search/unindexed.ts';
import { findSessionRow } from '../../db/sessions/sessions.ts';
import { findSegments } from '../../db/sessions/transcripts.ts';
import { findableOf, makeFindable } from '../sessions/indexing.ts';
import type { Db } from '../../db/database.ts';
import type { SessionPlace } from '../../db/search/unindexed.ts';
import type { WorkerContext } from './context.ts';

/** A worker of an older version may still store transcripts after this one has begun. */
const againAfterMs = 60 * 60 * 1000;
const atATime = 500;

type Indexer = Pick<WorkerContext, 'db' | 'log' | 'stopping'>;

/** Looks through all sessions at once and then every hour, until the worker stops. */
export async function keepIndexing(worker: Indexer): Promise<void> {
  while (!worker.stopping.aborted) {
    await indexBacklog(worker).catch((error: unknown) => worker.log.warn({ err: error }, 'indexing was interrupted'));
    await sleep(againAfterMs, undefined, { signal: worker.stopping }).catch(() => {});
  }
}

/** Makes whatever can't be found yet findable, each session in a transaction of its own. */
export async function indexBacklog({ db, log, stopping }: Indexer): Promise<void> {
  let after: SessionPlace = firstPlace;
  let indexed = 0;
  for (let looked = atATime; looked === atATime && !stopping.aborted;) {
    const sessions = await lookForUnindexed(db, after, atATime);
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
  if (isDatabaseAway(error)) throw error;
  return error;
}

async function index(db: Db, { accountId, id }: SessionPlace): Promise<void> {
  const session = await findSessionRow(db, accountId, id);
  if (session === undefined) return;
  const [segments] = await findSegments(db, [{ accountId, id }]);
  const { title, language, transcript_version: version } = session;
  const findable = await findableOf(db, accountId, { title, language, segments });
  await inAccountTransaction(db, accountId, async (trx) => {
    const current = await findSessionRow(trx, accountId, id);
    // Whoever completed it meanwhile made it findable, or the next look does.
    if (current?.transcript_version !== version) return;
    await makeFindable(trx, { accountId, sessionId: id }, findable);
  });
}
