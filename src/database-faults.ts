/** What keeps a start from its database, in words that name the variable to change. */
import { isDatabaseAway, isRefusedByPooler } from '../db/database-errors.ts';
import { PoolerUnfit, nameServer } from '../db/pooler.ts';

export type DatabaseVariable = 'DATABASE_URL' | 'DATABASE_DIRECT_URL';

/** The database can not be reached. */
export class DatabaseAway extends Error {
  override readonly name = 'DatabaseAway';

  constructor(variable: DatabaseVariable, cause: unknown) {
    super(`the database of ${variable} can not be reached`, { cause });
  }
}

const leadsToPooler: Record<DatabaseVariable, string> = {
  DATABASE_URL: `DATABASE_URL leads to a pooler. ${nameServer}`,
  DATABASE_DIRECT_URL:
    'DATABASE_DIRECT_URL leads to a pooler. Let it name the server behind the pooler: LISTEN, the queue and migrations need it.',
};

/**
 * Waits for what is asked by the URL of this variable.
 *
 * @throws {PoolerUnfit}
 * @throws {DatabaseAway}
 */
export async function askedBy<T>(variable: DatabaseVariable, asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (isRefusedByPooler(error)) throw new PoolerUnfit(leadsToPooler[variable]);
    if (isDatabaseAway(error)) throw new DatabaseAway(variable, error);
    throw error;
  }
}
