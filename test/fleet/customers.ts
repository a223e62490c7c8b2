/** The customers of the fleet: how many clients each has, and what its plan lets it do. */
import { makeAccount } from '../support/service/accounts.ts';
import type { Db } from '../../db/connection/database.ts';
import type { TestAccount } from '../support/service/accounts.ts';

export interface Customer extends TestAccount {
  /** Begins the titles of its sessions, and of nobody else's. */
  name: string;
  uploaders: number;
  runningJobs: number;
}

const kinds = [
  { name: 'ash', uploaders: 2, runningJobs: 1 },
  { name: 'birch', uploaders: 3, runningJobs: 2 },
  { name: 'cedar', uploaders: 1, runningJobs: 16 },
];

export function makeCustomers(db: Db): Promise<Customer[]> {
  return Promise.all(
    kinds.map(async (kind) => {
      const limits = { requests_per_minute: 1_000_000, queued_sessions: 10_000, running_jobs: kind.runningJobs };
      return { ...kind, ...(await makeAccount(db, { balanceMs: 1_000 * 3_600_000, limits })) };
    }),
  );
}
