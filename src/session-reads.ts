import { findSessions } from '../db/sessions.ts';
import { Batches } from './batches.ts';
import type { Db } from '../db/database.ts';
import type { ReadableSession } from '../db/sessions.ts';

/** Few of each: whoever reads something else always finds a connection. */
const limits = { maxEntries: 1_000, maxAtOnce: 2 };

interface Wanted extends PromiseWithResolvers<ReadableSession | undefined> {
  accountId: string;
  id: string;
}

/** Reads of single sessions, gathered. */
export class SessionReads {
  readonly #db: Db;
  /** By account and session: who asks for a session of another account never shares its owner's read. */
  readonly #wanted = new Batches<Wanted>((batch) => this.#read(batch), limits);

  constructor(db: Db) {
    this.#db = db;
  }

  /** The session as it is after this call; undefined when the account has none of this id (in lower case). */
  find(accountId: string, id: string): Promise<ReadableSession | undefined> {
    const make = () => ({ accountId, id, ...Promise.withResolvers<ReadableSession | undefined>() });
    return this.#wanted.entry(keyOf(accountId, id), make).promise;
  }

  async #read(batch: Wanted[]): Promise<void> {
    try {
      const rows = await findSessions(this.#db, batch);
      const found = new Map(rows.map((row) => [keyOf(row.account_id, row.id), row]));
      for (const { accountId, id, resolve } of batch) resolve(found.get(keyOf(accountId, id)));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}

const keyOf = (accountId: string, id: string) => `${accountId}/${id}`;
