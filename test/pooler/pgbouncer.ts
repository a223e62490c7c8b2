/** A real PgBouncer before a real PostgreSQL. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openConnection } from '../../db/connection/database.ts';
import { Machine } from '../rig/machine.ts';
import { accepts, here, steadyPort } from '../rig/place.ts';
import { throughPooler } from '../support/service/pooler.ts';

export interface PgBouncer {
  /** `127.0.0.1:<port>` */
  host: string;
  stop(): Promise<void>;
}

/**
 * @param databaseUrl of any database of the server behind it
 * @param settings of `pgbouncer.ini` that differ from a usual one in transaction mode
 */
export async function startPgBouncer(databaseUrl: string, settings: Record<string, string> = {}): Promise<PgBouncer> {
  const folder = await mkdtemp(join(process.env.TEST_FOLDER!, 'pgbouncer-'));
  const port = await steadyPort();
  const server = new URL(databaseUrl);
  const password = server.password && ` password=${decodeURIComponent(server.password)}`;
  const all = {
    ...{ listen_addr: '127.0.0.1', listen_port: String(port), unix_socket_dir: '', auth_type: 'any' },
    ...{ pool_mode: 'transaction', max_prepared_statements: '200', default_pool_size: '20', max_client_conn: '1000' },
    ...settings,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
  const origin = `* = host=${server.hostname} port=${server.port} user=${server.username}${password}`;
  const file = join(folder, 'pgbouncer.ini');
  await writeFile(file, ['[databases]', origin, '[pgbouncer]', ...lines, ''].join('\n'), { mode: 0o644 });
  await chmod(folder, 0o755);
  // It refuses to run as root.
  const asNobody = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups', '--'];
  const machine = new Machine(here('pgbouncer'), {
    command: [...(process.getuid?.() === 0 ? asNobody : []), process.env.PGBOUNCER!, '-q', file],
    ...{ env: {}, folder, isUp: () => accepts(port) },
  });
  await machine.start();
  return {
    host: `127.0.0.1:${port}`,
    async stop() {
      await machine.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** As `RECONNECT` in the pooler's console: every connection of its own is made anew. */
export async function reconnect({ host }: PgBouncer, url: string): Promise<void> {
  const console = new URL(throughPooler(url, host));
  console.pathname = '/pgbouncer';
  const connection = openConnection(console.href, true);
  await connection.connect();
  await connection.query('reconnect');
  await connection.end();
}
