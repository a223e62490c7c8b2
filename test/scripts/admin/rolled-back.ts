import { Kysely, PostgresDialect } from 'kysely';
import { openConnection } from '../../../db/connection/database.ts';
import type { Db } from '../../../db/connection/database.ts';

/** Runs `work` with a database whose transactions are all within one, which is rolled back afterwards. */
export async function rolledBack<Result>(url: string, work: (db: Db) => Promise<Result>): Promise<Result> {
  const connection = openConnection(url);
  await connection.connect();
  const client = {
    query: (text: string, values: unknown[]) => connection.query(nested(text), values),
    release: () => {},
  };
  const db: Db = new Kysely({
    dialect: new PostgresDialect({ pool: { connect: async () => client, end: async () => {} } as never }),
  });
  try {
    await connection.query('begin isolation level repeatable read');
    return await work(db);
  } finally {
    await connection.end();
  }
}

function nested(statement: string): string {
  if (/^(begin|start transaction)/.test(statement)) return 'savepoint nested';
  if (statement === 'commit') return 'release savepoint nested';
  return statement === 'rollback' ? 'rollback to savepoint nested' : statement;
}
