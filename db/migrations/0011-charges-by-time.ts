import { makeIndex } from './online.ts';
import type { Kysely } from 'kysely';
import type { OnlineMigration } from './online.ts';

/** For what an account was charged in a month. */
export const chargesByTime: OnlineMigration = {
  inSteps: true,
  up: (db: Kysely<unknown>) => makeIndex(db, 'ledger_by_time', 'on ledger (account_id, created_at, id)'),
};
