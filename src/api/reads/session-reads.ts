/** What most requests read. Requests of the same moment are read by few statements. */
import { listSessions } from '../../../db/sessions/pages.ts';
import { findPages } from '../../../db/sessions/pages-together.ts';
import { findSessions } from '../../../db/sessions/sessions.ts';
import { findSegments, findSessionsWithSegments } from '../../../db/sessions/transcripts.ts';
import { FairTurns } from '../../fair-turns.ts';
import { GatheredReads } from './gathered-reads.ts';
import type { Db } from '../../../db/database.ts';
import type { PageQuestion } from '../../../db/sessions/pages.ts';
import type { ReadableSession } from '../../../db/sessions/readable.ts';
import type { SessionWithSegments } from '../../../db/sessions/transcripts.ts';

/** A session of an account. Its id is in lower case. */
interface Owned {
  accountId: string;
  id: string;
}

const accountOf = ({ accountId }: { accountId: string }) => accountId;
/**
 * Few at once: whoever reads something else always finds a connection. Two, so that PostgreSQL reads for some while others are
 * answered: of pages and transcripts a tenth more than by one statement at a time with twice as many entries.
 */
const limits = {
  sessions: { maxEntries: 1_000, maxAtOnce: 2, accountOf },
  pages: { maxEntries: 16, maxAtOnce: 2, accountOf },
  withSegments: { maxEntries: 16, maxAtOnce: 2, accountOf },
  // Segments may be many megabytes long, and those of one statement come together.
  segments: { maxEntries: 10, maxAtOnce: 1, accountOf },
  /** Pages of some statuses, of a reference or of a language only. Each is read by a statement of its own. */
  filtered: { atOnce: 4, each: 2 },
};
const keyOf = ({ accountId, id }: Owned) => `${accountId}/${id}`;

export class SessionReads {
  readonly #db: Db;
  readonly #sessions: GatheredReads<Owned, ReadableSession | undefined>;
  readonly #withSegments: GatheredReads<Owned, SessionWithSegments | undefined>;
  readonly #segments: GatheredReads<Owned, string | undefined>;
  readonly #pages: GatheredReads<PageQuestion, ReadableSession[]>;
  readonly #filtered = new FairTurns(limits.filtered);

  constructor(db: Db) {
    this.#db = db;
    this.#sessions = new GatheredReads((wanted) => findSessions(db, wanted), keyOf, limits.sessions);
    this.#withSegments = new GatheredReads(
      (wanted) => findSessionsWithSegments(db, wanted),
      keyOf,
      limits.withSegments,
    );
    this.#segments = new GatheredReads((wanted) => findSegments(db, wanted), keyOf, limits.segments);
    this.#pages = new GatheredReads<PageQuestion, ReadableSession[]>(
      (asked) => findPages(db, asked),
      JSON.stringify,
      limits.pages,
    );
  }

  /** Undefined when the account has no session of this id. */
  find(accountId: string, id: string): Promise<ReadableSession | undefined> {
    return this.#sessions.find({ accountId, id });
  }

  /** As `find`, with the segments of the transcript as JSON text, unless there are very many. */
  findWithSegments(accountId: string, id: string): Promise<SessionWithSegments | undefined> {
    return this.#withSegments.find({ accountId, id });
  }

  /** The segments of a transcript as JSON text; undefined when there is none. */
  segments(accountId: string, id: string): Promise<string | undefined> {
    return this.#segments.find({ accountId, id });
  }

  /** Sessions of an account, newest first. */
  page(question: PageQuestion): Promise<ReadableSession[]> {
    const { statuses, reference, language } = question;
    if ([statuses, reference, language].every((filter) => filter === undefined)) {
      return this.#pages.find(question);
    }
    return this.#filtered.run(question.accountId, () => listSessions(this.#db, question));
  }
}
