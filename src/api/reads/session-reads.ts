import { listSessions } from '../../../db/sessions/pages.ts';
import { findSession } from '../../../db/sessions/sessions.ts';
import { findSessionWithSegments } from '../../../db/sessions/transcripts.ts';
import { FairTurns } from '../../concurrency/fair-turns.ts';
import type { Db } from '../../../db/connection/database.ts';
import type { ListSessionsQuery } from '../../../db/sessions/pages.ts';

/** So many statements stand in front of the one of an account that comes alone. */
const limits = { atOnce: 64, each: 32 };

/** What most requests read, one statement for each. Accounts take turns. */
export class SessionReads {
  readonly #db: Db;
  readonly #turns = new FairTurns(limits);

  constructor(db: Db) {
    this.#db = db;
  }

  /** Undefined when the account has no session of this id, in lower case. */
  find(accountId: string, id: string) {
    return this.#turns.run(accountId, () => findSession(this.#db, accountId, id));
  }

  /** As `find`, with the segments of the transcript as JSON text, unless they are long. */
  findWithSegments(accountId: string, id: string) {
    return this.#turns.run(accountId, () => findSessionWithSegments(this.#db, accountId, id));
  }

  /** Sessions of an account, newest first. */
  page(question: ListSessionsQuery) {
    return this.#turns.run(question.accountId, () => listSessions(this.#db, question));
  }
}
