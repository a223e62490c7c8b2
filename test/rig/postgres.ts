/** PostgreSQL as a program that a test starts and ends as it likes: everybody else's goes on. */
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFile, chmod, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openConnection, openDatabase } from '../../db/connection/database.ts';
import { clusterPaths, createCluster, makeFolder, readPassword, roleName } from '../../db/embedded/cluster.ts';
import { cleanEnvironment, findPrograms } from '../../db/embedded/programs.ts';
import { serverArguments } from '../../db/embedded/server.ts';
import { migrateToLatest } from '../../db/migrations/migrate.ts';
import { atEnd } from '../support/at-end.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { Machine } from './machine.ts';
import { steadyPort } from './ports.ts';
import type { ClusterPaths } from '../../db/embedded/cluster.ts';

export interface OwnPostgres {
  /** Ends by SIGINT as `pg_ctl stop` ends it: every connection is broken. Starts on the port it had. */
  machine: Machine;
  url: string;
  paths: ClusterPaths;
}

/**
 * Up, with an empty database, until the test file ends.
 * @param wrapper a program, with its arguments, that becomes the command it is given
 */
export async function startPostgres(wrapper: readonly string[] = []): Promise<OwnPostgres> {
  const paths = await newPaths();
  await createCluster(paths, await findPrograms(paths));
  const postgres = await startOn(paths, wrapper);
  const maintenance = Object.assign(new URL(postgres.url), { pathname: '/postgres' });
  await ask(maintenance.href, `create database ${roleName}`);
  return postgres;
}

/** With room for every upload of a long run. */
const limits = { requests_per_minute: 1_000_000, queued_sessions: 10_000 };

/** The same with the service's tables, an account, and a way of the test's own to them. */
export async function startMigrated() {
  const { machine, url } = await startPostgres();
  await migrateToLatest(url);
  const { db, close } = openDatabase(url, () => {});
  atEnd(close);
  return { machine, url, db, account: await makeAccount(db, { balanceMs: 1_000 * 3_600_000, limits }) };
}

/** A hot standby that follows `primary`, which is stopped for a moment to be copied. */
export async function startStandbyOf(primary: OwnPostgres): Promise<OwnPostgres> {
  const paths = await newPaths();
  await primary.machine.stop('SIGINT');
  // With its owner, who is another user where the tests run as root.
  spawnSync('cp', ['-a', primary.paths.data, paths.data]);
  spawnSync('cp', ['-a', join(paths.data, 'PG_VERSION'), join(paths.data, 'standby.signal')]);
  await appendFile(join(paths.data, 'postgresql.auto.conf'), `primary_conninfo = '${primary.url}'\n`);
  await primary.machine.start();
  return startOn(paths);
}

async function newPaths(): Promise<ClusterPaths> {
  const folder = await mkdtemp(join(process.env.TEST_FOLDER!, 'postgres-'));
  // As root, another user runs it.
  await chmod(folder, 0o711);
  const paths = clusterPaths(join(folder, 'cluster'));
  makeFolder(paths);
  return paths;
}

async function startOn(paths: ClusterPaths, wrapper: readonly string[] = []): Promise<OwnPostgres> {
  const { prefix, postgres } = await findPrograms(paths);
  const port = await steadyPort();
  const url = `postgres://${roleName}:${readPassword(paths)}@127.0.0.1:${port}/`;
  const machine = new Machine('PostgreSQL', {
    command: [...prefix, ...wrapper, postgres, '-D', paths.data, ...serverArguments('rig', port)],
    ...{ env: cleanEnvironment(), folder: paths.data },
    // A process of another start may have its number by now, which PostgreSQL would respect.
    prepare: () => rm(paths.postmasterPid, { force: true }),
    isUp: async () => (await ask(`${url}postgres`, 'select 1')).length > 0,
  });
  await machine.start();
  // Killed, it would leave its shared memory.
  atEnd(() => machine.stop('SIGINT'));
  return { machine, url: `${url}${roleName}`, paths };
}

/** A database as an operator makes it for the service: empty, and owned by a login that is no superuser. */
export async function useEmptyDatabase(): Promise<URL> {
  const url = new URL(process.env.TEST_DATABASE_URL!);
  const maintenance = new URL('/postgres', url).href;
  const name = `new_${randomUUID().replaceAll('-', '')}`;
  await ask(maintenance, `create role ${name} login password 'secret-of-${name}' nosuperuser`);
  await ask(maintenance, `create database ${name} owner ${name} template template0`);
  atEnd(async () => {
    await ask(maintenance, `drop database ${name} with (force)`);
    await ask(maintenance, `drop role ${name}`);
  });
  return Object.assign(url, { username: name, password: `secret-of-${name}`, pathname: `/${name}` });
}

/** @returns rows of a connection that nobody else uses */
export async function ask(url: string, text: string, isPooled = false): Promise<Record<string, unknown>[]> {
  const connection = openConnection(url, { isPooled });
  await connection.connect();
  try {
    return (await connection.query<Record<string, unknown>>(text)).rows;
  } finally {
    await connection.end();
  }
}
