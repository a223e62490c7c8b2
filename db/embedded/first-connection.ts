import pg from 'pg';

/** Where and as whom to connect, on 127.0.0.1. */
export interface Access {
  readonly port: number;
  readonly role: string;
  readonly password: string;
}

// SQLSTATEs of errors that pass: ended by an administrator, ended by the crash of another process, starting up,
// recovering or shutting down.
const passing = new Set(['57P01', '57P02', '57P03']);
const invalidPassword = '28P01';

/**
 * Whether the server accepts connections.
 * @throws when it refuses this one for any other reason than not being ready
 */
export async function acceptsConnections(access: Access): Promise<boolean> {
  const client = await connect(access);
  await client?.end();
  return client !== undefined;
}

/**
 * Makes the database named like the role, where it doesn't exist yet.
 * @returns false when the server doesn't accept connections yet
 * @throws when it refuses this one for any other reason than not being ready
 */
export async function prepareDatabase(access: Access): Promise<boolean> {
  const client = await connect(access);
  if (client === undefined) return false;
  try {
    const existing = await client.query('SELECT FROM pg_database WHERE datname = $1', [access.role]);
    if (existing.rowCount === 0) await client.query(`CREATE DATABASE ${client.escapeIdentifier(access.role)}`);
    return true;
  } catch (error) {
    if (passes(error)) return false;
    throw error;
  } finally {
    await client.end();
  }
}

async function connect({ port, role, password }: Access): Promise<pg.Client | undefined> {
  const client = new pg.Client({
    ...{ host: '127.0.0.1', port, user: role, password, database: 'postgres' },
    ...{ ssl: false, connectionTimeoutMillis: 5_000 },
  });
  // When the server goes away, the query that fails tells it. An event without a listener would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    if (code === invalidPassword)
      throw new Error('PostgreSQL refuses the password in its data folder', { cause: error });
    if (passes(error)) return undefined;
    throw new Error(`PostgreSQL refuses a connection: ${message}`, { cause: error });
  }
}

/** Whether the same attempt may succeed a moment later. A connection that breaks off or takes too long has no code. */
function passes(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === undefined || passing.has(code) || /^E[A-Z]+$/.test(code);
}
