/** What most requests read. Requests of the same moment are read by few statements. */
import { isOfAll } from '../../../db/sessions/filter.ts';
import { listSessions } from '../../../db/sessions/pages.ts';
import { findPages } from '../../../db/sessions/pages-together.ts';
import { findSessions } from '../../../db/sessions/sessions.ts';
import { findSegments, findSessionsWithSegments } from '../../../db/sessions/transcripts.ts';
import { FairTurns } from '../../concurrency/fair-turns.ts';
import { Loader } from '../loader.ts';
import type { Db } from '../../../db/connection/database.ts';
import type { PageQuestion } from '../../../db/sessions/pages.ts';
import type { ReadableSession } from '../../../db/sessions/readable.ts';
import type { SessionWithSegments } from '../../../db/sessions/transcripts.ts';

/** A session of an account. Its id is in lower case. */
interface Owned {
  accountId: string;
  id: string;
}

const accountOf = ({ accountId }: { accountId: string }) => accountId;
const cacheKeyOf = ({ accountId, id }: Owned) => `${accountId}/${id}`;
/**
 * Few at once: whoever reads something else always finds a connection. Two, so that PostgreSQL reads for some while others are
 * answered: of pages and transcripts a tenth more than by one statement at a time with twice as many entries.
 */
const limits = {
  sessions: { maxBatchSize: 1_000, maxAtOnce: 2, accountOf, cacheKeyOf },
  withSegments: { maxBatchSize: 16, maxAtOnce: 2, accountOf, cacheKeyOf },
  // Segments may be many megabytes long, and those of one statement come together.
  segments: { maxBatchSize: 10, maxAtOnce: 1, accountOf, cacheKeyOf },
  pages: {
    maxBatchSize: 16,
    maxAtOnce: 2,
    accountOf,
    cacheKeyOf: (question: PageQuestion) => JSON.stringify(question),
  },
  /** Pages of some statuses, of a reference or of a language only. Each is read by a statement of its own. */
  filtered: { atOnce: 4, each: 2 },
};

export class SessionReads {
  readonly #db: Db;
  readonly #sessions: Loader<Owned, ReadableSession | undefined>;
  readonly #withSegments: Loader<Owned, SessionWithSegments | undefined>;
  readonly #segments: Loader<Owned, string | undefined>;
  readonly #pages: Loader<PageQuestion, ReadableSession[]>;
  readonly #filtered = new FairTurns(limits.filtered);

  constructor(db: Db) {
    this.#db = db;
    this.#sessions = new Loader((wanted) => findSessions(db, wanted), limits.sessions);
    this.#withSegments = new Loader((wanted) => findSessionsWithSegments(db, wanted), limits.withSegments);
    this.#segments = new Loader((wanted) => findSegments(db, wanted), limits.segments);
    this.#pages = new Loader((asked) => findPages(db, asked), limits.pages);
  }

  /** Undefined when the account has no session of this id. */
  find(accountId: string, id: string): Promise<ReadableSession | undefined> {
    return this.#sessions.load({ accountId, id });
  }

  /** As `find`, with the segments of the transcript as JSON text, unless there are very many. */
  findWithSegments(accountId: string, id: string): Promise<SessionWithSegments | undefined> {
    return this.#withSegments.load({ accountId, id });
  }

  /** The segments of a transcript as JSON text; undefined when there is none. */
  segments(accountId: string, id: string): Promise<string | undefined> {
    return this.#segments.load({ accountId, id });
  }

  /** Sessions of an account, newest first. */
  page(question: PageQuestion): Promise<ReadableSession[]> {
    if (isOfAll(question)) return this.#pages.load(question);
    return this.#filtered.run(question.accountId, () => listSessions(this.#db, question));
  }
}
