/** What an upload is judged by before it is accepted, gathered from all requests of the same moment. */
import { findStandings } from '../../../db/accounts/accounts.ts';
import { findIdempotencyRecords } from '../../../db/idempotency.ts';
import { Loader } from '../loader.ts';
import type { AccountQuota } from '../../../db/accounts/accounts.ts';
import type { Db } from '../../../db/connection/database.ts';
import type { IdempotencyRecord } from '../../../db/idempotency.ts';

/** An upload with an Idempotency-Key. */
interface Keyed {
  accountId: string;
  key: string;
}

/** Few at once: whoever reads something else always finds a connection. */
const few = { maxBatchSize: 100, maxAtOnce: 2 };
const limits = {
  standings: { ...few, accountOf: (id: string) => id, cacheKeyOf: (id: string) => id },
  records: {
    ...few,
    accountOf: ({ accountId }: Keyed) => accountId,
    cacheKeyOf: ({ accountId, key }: Keyed) => `${accountId}/${key}`,
  },
};

export class UploadReads {
  readonly #standings: Loader<string, AccountQuota | undefined>;
  readonly #records: Loader<Keyed, IdempotencyRecord | undefined>;

  constructor(db: Db) {
    this.#standings = new Loader((ids) => findStandings(db, ids), limits.standings);
    this.#records = new Loader((asked) => findIdempotencyRecords(db, asked), limits.records);
  }

  /** The account as it is, unlocked; undefined when it was deleted for good. */
  standing(accountId: string): Promise<AccountQuota | undefined> {
    return this.#standings.load(accountId);
  }

  /** The record of an upload that was accepted with this Idempotency-Key in the last 24 hours. */
  async record(accountId: string, key: string | string[] | undefined): Promise<IdempotencyRecord | undefined> {
    return typeof key === 'string' ? this.#records.load({ accountId, key }) : undefined;
  }
}
