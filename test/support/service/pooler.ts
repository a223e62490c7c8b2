/** The run of the tests through a pooler (`npm run test:pooler`), and none in any other run. */
import { openDatabase } from '../../../db/connection/database.ts';
import { setRoleDefaults } from '../../../db/connection/pooler.ts';

/** `host:port` of the pooler before the run's own PostgreSQL. */
const pooler = () => process.env.TEST_POOLER;

/** @param url of a database. Only one of the run's own server has a pooler. */
export function databaseEnvironment(url: string): { DATABASE_URL: string; DATABASE_DIRECT_URL?: string } {
  const isOurs = new URL(url).host === new URL(process.env.TEST_DATABASE_URL!).host;
  return pooler() !== undefined && isOurs
    ? { DATABASE_URL: throughPooler(url, pooler()!), DATABASE_DIRECT_URL: url }
    : { DATABASE_URL: url };
}

export function throughPooler(url: string, host: string): string {
  const pooled = new URL(url);
  pooled.host = host;
  return pooled.href;
}

/** What is set for a role in a database is not copied with the database. */
export async function keepRoleDefaults(url: string): Promise<void> {
  if (pooler() === undefined) return;
  const { db, close } = openDatabase(url, () => {}, { maxConnections: 1 });
  await setRoleDefaults(db).finally(close);
}
