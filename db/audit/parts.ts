/**
 * The auditor looks at a large database part by part: PostgreSQL can clean up nothing that an open snapshot still sees. A rule
 * compares rows of one account, or of one session, and those are always in one part.
 */
import { sql } from 'kysely';
import { inSnapshot } from '../connection/transaction.ts';
import type { RawBuilder } from 'kysely';
import type { Db, Trx } from '../connection/database.ts';

/** How tables are cut: by the columns that are the same in all rows that belong together. */
export interface Cut {
  /** Has such columns in an order in which parts follow each other. */
  table: string;
  keys: Record<string, string[]>;
}

export const bySession: Cut = {
  table: 'sessions',
  keys: {
    sessions: ['account_id', 'id'],
    transcripts: ['account_id', 'session_id'],
    passages: ['account_id', 'session_id'],
    ledger: ['account_id', 'session_id'],
    idempotency: ['account_id', 'session_id'],
  },
};
export const byAccount: Cut = {
  table: 'accounts',
  keys: {
    accounts: ['id'],
    sessions: ['account_id'],
    ledger: ['account_id'],
    api_keys: ['account_id'],
    idempotency: ['account_id'],
    search_languages: ['account_id'],
  },
};
/** A charge and its session may be of different accounts: that is a breach. */
export const byCharge: Cut = { table: 'sessions', keys: { ledger: ['account_id', 'session_id'] } };
/** A table that is small, or rows that belong to no account. */
export const whole: Cut = { table: '', keys: {} };

/** The last key of a part. */
export type Place = string[];

export interface Part {
  after: Place | undefined;
  upTo: Place | undefined;
}

/** For the `with` of a statement: each table's name stands for a part of it there, with the rows' `xmin`. */
export const partsOf = ({ keys }: Cut, part: Part): RawBuilder<unknown> =>
  sql.join(
    Object.entries(keys).map(
      ([table, key]) =>
        sql`${sql.table(table)} as not materialized (select *, xmin from ${sql.table(table)} where ${isWithin(key, part)})`,
    ),
  );

function isWithin(key: string[], { after, upTo }: Part): RawBuilder<unknown> {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  const valueOf = (place: Place) => sql.join(place.map((value) => sql`${value}::uuid`));
  const from = after === undefined ? sql`true` : sql`(${columns}) > (${valueOf(after)})`;
  return upTo === undefined ? from : sql`${from} and (${columns}) <= (${valueOf(upTo)})`;
}

const firstRows = 1_000;
const mostRows = 20_000;
/** How long a part should take. */
const goalMs = 5_000;

export interface Walking {
  /** At most so many rows of the cut's table are in a part. */
  most?: number;
  /** Where an interrupted walk had come. */
  begun?: Place | undefined;
  /** Hears how many rows a part had, and where it ended: nowhere if it was the last. */
  onPart?: (rows: number, upTo: Place | undefined) => Promise<void>;
}

/** Looks at all parts, each in a snapshot of its own that lasts some seconds. */
export async function walk(
  db: Db,
  cut: Cut,
  look: (snapshot: Trx, part: Part) => Promise<void>,
  { most = mostRows, begun, onPart = async () => {} }: Walking = {},
): Promise<void> {
  let size = Math.min(firstRows, most);
  for (let after = begun; ;) {
    const began = performance.now();
    const upTo = await inSnapshot(db, async (snapshot) => {
      // A part is much smaller than PostgreSQL thinks where an account has most of the rows.
      await sql`set local enable_seqscan = off`.execute(snapshot);
      const end = await endOfPart(snapshot, cut, after, size);
      await look(snapshot, { after, upTo: end });
      return end;
    });
    await onPart(size, upTo);
    if (upTo === undefined) return;
    after = upTo;
    const fits = (size * goalMs) / (performance.now() - began);
    size = Math.max(1, Math.floor(Math.min(fits, 2 * size, most)));
  }
}

async function endOfPart(snapshot: Trx, { table, keys }: Cut, after: Place | undefined, size: number) {
  const key = keys[table]!;
  const columns = sql.join(key.map((column) => sql.ref(column)));
  const { rows } = await sql<{ place: Place }>`
    select array[${columns}]::text[] as place from ${sql.table(table)}
    where ${isWithin(key, { after, upTo: undefined })} order by ${columns} offset ${sql.lit(size - 1)} limit 1`.execute(
    snapshot,
  );
  return rows[0]?.place;
}
