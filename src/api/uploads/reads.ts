/** What an upload is judged by before it is accepted, gathered from all requests of the same moment. */
import { findStandings } from '../../../db/accounts.ts';
import { findIdempotencyRecords } from '../../../db/idempotency.ts';
import { GatheredReads } from '../reads/gathered-reads.ts';
import type { Standing } from '../../../db/accounts.ts';
import type { Db } from '../../../db/database.ts';
import type { IdempotencyRecord } from '../../../db/idempotency.ts';

/** Few at once: whoever reads something else always finds a connection. */
const few = { maxEntries: 100, maxAtOnce: 2 };

export class UploadReads {
  readonly #standings: GatheredReads<string, Standing | undefined>;
  readonly #records: GatheredReads<{ accountId: string; key: string }, IdempotencyRecord | undefined>;

  constructor(db: Db) {
    this.#standings = new GatheredReads(
      (ids) => findStandings(db, ids),
      (id) => id,
      { ...few, accountOf: (id) => id },
    );
    this.#records = new GatheredReads(
      (asked) => findIdempotencyRecords(db, asked),
      ({ accountId, key }) => `${accountId}/${key}`,
      { ...few, accountOf: ({ accountId }) => accountId },
    );
  }

  /** The account as it is, unlocked; undefined when it was deleted for good. */
  standing(accountId: string): Promise<Standing | undefined> {
    return this.#standings.find(accountId);
  }

  /** The record of an upload that was accepted with this Idempotency-Key in the last 24 hours. */
  async record(accountId: string, key: string | string[] | undefined): Promise<IdempotencyRecord | undefined> {
    return typeof key === 'string' ? this.#records.find({ accountId, key }) : undefined;
  }
}
