/** What keeps a process from its database, in words for operators. A start names the variable to change. */
import { sql } from 'kysely';
import {
  DatabaseUnsupported,
  isDatabaseUnavailable,
  isDatabaseError,
  isRefusedByPooler,
  isRefusedLogin,
} from './database-errors.ts';
import { nameServer } from './pooler.ts';
import type { Db } from './database.ts';

export type DatabaseVariable = 'DATABASE_URL' | 'DATABASE_DIRECT_URL';

export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable';

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
 * @throws {DatabaseUnsupported}
 * @throws {DatabaseUnavailable}
 */
export async function explainDatabaseFault<T>(variable: DatabaseVariable, asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (isRefusedByPooler(error)) throw new DatabaseUnsupported(leadsToPooler[variable]);
    if (isRefusedLogin(error))
      throw new DatabaseUnsupported(
        `the database of ${variable} refuses: ${error.message}. Are its user, password and database right?`,
        { cause: error },
      );
    if (isDatabaseUnavailable(error)) throw new DatabaseUnavailable(variable, error);
    throw error;
  }
}

/** How long another session may lock a table before the database counts as unusable. */
const lockedMs = 1_500;

/**
 * Why the database can not be used now, as a sentence without its full stop; undefined when it can. It asks for an account,
 * as every request does.
 */
export async function whyNoDatabase(db: Db): Promise<string | undefined> {
  try {
    await db.transaction().execute(async (trx) => {
      await sql`set local lock_timeout = ${sql.lit(lockedMs)}`.execute(trx);
      await sql`select from accounts limit 1`.execute(trx);
    });
    return undefined;
  } catch (error) {
    return isDatabaseError(error) ? `the database refuses: ${error.message}` : 'the database can not be reached';
  }
}
