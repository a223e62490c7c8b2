/** What an upload is judged by before it is accepted, gathered from all requests of the same moment. */
import { findQuotas } from '../../../db/accounts/accounts.ts';
import { findIdempotencyRecords } from '../../../db/sessions/idempotency.ts';
import { Loader } from '../loader.ts';
import type { AccountQuota } from '../../../db/accounts/accounts.ts';
import type { Db } from '../../../db/connection/database.ts';
import type { IdempotencyRecord } from '../../../db/sessions/idempotency.ts';

/** An upload with an Idempotency-Key. */
interface Keyed {
  accountId: string;
  key: string;
}

/** Few at once: whoever reads something else always finds a connection. */
const few = { maxBatchSize: 100, maxAtOnce: 2 };
const limits = {
  quotas: { ...few, accountOf: (id: string) => id, cacheKeyOf: (id: string) => id },
  records: {
    ...few,
    accountOf: ({ accountId }: Keyed) => accountId,
    cacheKeyOf: ({ accountId, key }: Keyed) => `${accountId}/${key}`,
  },
};

export class UploadReads {
  readonly #quotas: Loader<string, AccountQuota | undefined>;
  readonly #records: Loader<Keyed, IdempotencyRecord | undefined>;

  constructor(db: Db) {
    this.#quotas = new Loader((ids) => findQuotas(db, ids), limits.quotas);
    this.#records = new Loader((asked) => findIdempotencyRecords(db, asked), limits.records);
  }

  /** The account as it is, unlocked; undefined when it was deleted for good. */
  quota(accountId: string): Promise<AccountQuota | undefined> {
    return this.#quotas.load(accountId);
  }

  /** The record of an upload that was accepted with this Idempotency-Key in the last 24 hours. */
  async record(accountId: string, key: string | string[] | undefined): Promise<IdempotencyRecord | undefined> {
    return typeof key === 'string' ? this.#records.load({ accountId, key }) : undefined;
  }
}
