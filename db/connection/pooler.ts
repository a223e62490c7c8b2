/**
 * A pooler between the service and its database, such as PgBouncer in transaction mode. Each transaction runs on
 * whichever connection of the pooler's own is free, so nothing can be asked of a connection when it begins, and nothing
 * heard on it between transactions. What a pool of the service asks for, the role has by itself.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { sql } from 'kysely';
import { openConnection, statementTimeoutMs } from './database.ts';
import { DatabaseUnsupported } from './database-errors.ts';
import type { Db, Queryable } from './database.ts';

const utc = new Set(['UTC', 'Etc/UTC']);
const hearingMs = 5_000;

/**
 * Gives the role of a connection what the service asks of its connections, in this database. Connections that are open
 * already go on without it.
 *
 * @param db leads to the server itself
 */
export async function setRoleDefaults(db: Queryable): Promise<void> {
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(db);
  const role = sql`alter role current_user in database ${sql.id(rows[0]!.name)}`;
  const limit = sql.lit(`${statementTimeoutMs}ms`);
  await sql`${role} set timezone to 'UTC'`.execute(db);
  await sql`${role} set DateStyle to 'ISO'`.execute(db);
  await sql`${role} set statement_timeout to ${limit}`.execute(db);
  await sql`${role} set idle_in_transaction_session_timeout to ${limit}`.execute(db);
}

/**
 * Whether the connections of a pool have what the service needs of them.
 *
 * @param isPooled whether they are known to lead to a pooler
 * @throws {DatabaseUnsupported} they lead to a pooler that no setting names, or whose role lacks its defaults
 */
export async function checkConnections(db: Db, isPooled: boolean): Promise<void> {
  const { rows } = await sql<RoleDefaults>`select current_user as role, current_setting('timezone') as timezone,
    current_setting('DateStyle') as "dateStyle",
    (select setting::int from pg_settings where name = 'statement_timeout') as "statementMs",
    (select setting::int from pg_settings where name = 'idle_in_transaction_session_timeout') as "idleMs"`.execute(db);
  const wrong = wrongDefaults(rows[0]!);
  if (wrong.length === 0) return;
  const found = `The pooler of DATABASE_URL has connections of the role ${rows[0]!.role} with ${wrong.join(', ')}.`;
  throw new DatabaseUnsupported(`${found} ${isPooled ? giveDefaults : nameServer}`);
}

/** What to do about a pooler that no setting names. */
export const nameServer =
  'Name the server behind the pooler in DATABASE_DIRECT_URL: LISTEN, the queue and migrations need it.';
const giveDefaults =
  "Type: npm run admin -- database migrate, with that role in DATABASE_DIRECT_URL. Then RECONNECT in the pooler's console.";

interface RoleDefaults {
  role: string;
  timezone: string;
  dateStyle: string;
  /** 0: no limit. */
  statementMs: number;
  idleMs: number;
}

function wrongDefaults({ timezone, dateStyle, statementMs, idleMs }: RoleDefaults): string[] {
  const isLimit = (ms: number) => ms > 0 && ms <= statementTimeoutMs;
  return [
    ...(utc.has(timezone) ? [] : [`timezone ${timezone} instead of UTC`]),
    ...(/^ISO\b/.test(dateStyle) ? [] : [`DateStyle ${dateStyle} instead of ISO`]),
    ...(isLimit(statementMs) ? [] : [`statement_timeout ${statementMs} instead of ${statementTimeoutMs} ms`]),
    ...(isLimit(idleMs) ? [] : [`idle_in_transaction_session_timeout ${idleMs} instead of ${statementTimeoutMs} ms`]),
  ];
}

/**
 * Whether statements that a client has named are there in its next transaction. As an old pooler gives two clients the
 * same connection, the name of the second is taken there already, or unknown.
 *
 * @throws {DatabaseUnsupported}
 */
export async function checkNamedStatements(url: string): Promise<void> {
  const clients = [openConnection(url, { isPooled: true }), openConnection(url, { isPooled: true })];
  try {
    for (const client of clients) await client.connect();
    // When others use the pooler too, the clients meet on a connection only now and then.
    for (let turn = 0; turn < 10; turn++) {
      const name = `pooler_${randomUUID()}`;
      for (const client of clients) await client.query({ name, text: 'select 1' });
    }
  } catch (error) {
    if (!/^(42P05|26000)$/.test(String((error as { code?: unknown }).code))) throw error;
    throw new DatabaseUnsupported(
      'The pooler of DATABASE_URL loses named statements. PgBouncer 1.21 or newer is needed, with max_prepared_statements=200.',
    );
  } finally {
    await Promise.all(clients.map((client) => client.end().catch(() => {})));
  }
}

/**
 * Whether notifications arrive on a connection. Behind a pooler LISTEN succeeds, and none ever arrives. Rejects
 * when the database is away.
 *
 * @param url of the connection that listens
 * @param db the pool that notifies
 */
export async function supportsListen(url: string, db: Db): Promise<boolean> {
  const connection = openConnection(url);
  const channel = `hears_${randomUUID()}`;
  try {
    await connection.connect();
    await connection.query(`listen "${channel}"`);
    const told = once(connection, 'notification', { signal: AbortSignal.timeout(hearingMs) });
    const heard = told.then(
      () => true,
      (error: Error) => {
        if (error.name === 'AbortError') return false;
        throw error;
      },
    );
    const [hears] = await Promise.all([heard, sql`select pg_notify(${channel}, '')`.execute(db)]);
    return hears;
  } finally {
    await connection.end();
  }
}
