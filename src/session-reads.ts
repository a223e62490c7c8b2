import { findSessions } from '../db/sessions.ts';
import type { Db } from '../db/database.ts';
import type { ReadableSession } from '../db/sessions.ts';

/** Sessions of one statement. */
const maxPerStatement = 1_000;
/** Far below the pool's size: whoever does not wait always finds a connection. */
const maxStatementsAtOnce = 2;

interface Wanted extends PromiseWithResolvers<ReadableSession | undefined> {
  accountId: string;
  id: string;
}

/**
 * Reads of single sessions by clients that wait, gathered: what is asked for in the same moment, and while earlier
 * statements run, is one statement. A thousand clients that are woken at once cost as much as one.
 */
export class SessionReads {
  readonly #db: Db;
  /** By account and session: who asks for a session of another account never shares its owner's read. */
  readonly #wanted = new Map<string, Wanted>();
  #running = 0;
  #isScheduled = false;

  constructor(db: Db) {
    this.#db = db;
  }

  /** The session as it is after this call; undefined when the account has none of this id (in lower case). */
  find(accountId: string, id: string): Promise<ReadableSession | undefined> {
    const key = keyOf(accountId, id);
    let wanted = this.#wanted.get(key);
    if (wanted === undefined) {
      wanted = { accountId, id, ...Promise.withResolvers<ReadableSession | undefined>() };
      this.#wanted.set(key, wanted);
      this.#schedule();
    }
    return wanted.promise;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#wanted.size === 0 || this.#running === maxStatementsAtOnce) return;
    this.#isScheduled = true;
    // Not before everything that came in the same turn of the event loop has been gathered.
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#readSome();
    });
  }

  async #readSome(): Promise<void> {
    const batch = [...this.#wanted].slice(0, maxPerStatement);
    for (const [key] of batch) this.#wanted.delete(key);
    this.#running += 1;
    this.#schedule();
    try {
      const rows = await findSessions(
        this.#db,
        batch.map(([, { accountId, id }]) => ({ accountId, id })),
      );
      const found = new Map(rows.map((row) => [keyOf(row.account_id, row.id), row]));
      for (const [key, { resolve }] of batch) resolve(found.get(key));
    } catch (error) {
      for (const [, { reject }] of batch) reject(error);
    } finally {
      this.#running -= 1;
      this.#schedule();
    }
  }
}

const keyOf = (accountId: string, id: string) => `${accountId}/${id}`;
