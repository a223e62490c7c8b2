/** PostgreSQL as a program that a test starts and ends as it likes. */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { openDatabase } from '../../db/connection/database.ts';
import { clusterPaths, createCluster, makeFolder, readPassword, roleName } from '../../db/embedded/cluster.ts';
import { cleanEnvironment, findPrograms } from '../../db/embedded/programs.ts';
import { serverArguments } from '../../db/embedded/server.ts';
import { atEnd } from '../support/at-end.ts';
import { Machine } from './machine.ts';
import { steadyPort } from './ports.ts';

/**
 * Up, with an empty database, until the test file ends.
 * @param wrapper a program, with its arguments, that becomes the command it is given
 */
export async function startPostgres(wrapper: readonly string[] = []) {
  const folder = await mkdtemp(join(process.env.TEST_FOLDER!, 'postgres-'));
  // As root, another user runs it.
  await chmod(folder, 0o711);
  const paths = clusterPaths(join(folder, 'cluster'));
  makeFolder(paths);
  const programs = await findPrograms(paths);
  await createCluster(paths, programs);
  const port = await steadyPort();
  const urlOf = (name: string) => `postgres://${roleName}:${readPassword(paths)}@127.0.0.1:${port}/${name}`;
  const machine = new Machine('PostgreSQL', {
    command: [...programs.prefix, ...wrapper, programs.postgres, '-D', paths.data, ...serverArguments('rig', port)],
    ...{ env: cleanEnvironment(), folder: paths.data },
    // A process of another start may have its number by now, which PostgreSQL would respect.
    prepare: () => rm(paths.postmasterPid, { force: true }),
    isUp: () => ask(urlOf('postgres'), 'select 1'),
  });
  await machine.start();
  // Killed, it would leave its shared memory.
  atEnd(() => machine.stop('SIGINT'));
  await ask(urlOf('postgres'), `create database ${roleName}`);
  return { machine, url: urlOf(roleName) };
}

/** Over a connection that is closed again. */
export async function ask(url: string, statement: string, isPooled = false): Promise<true> {
  const { db, close } = openDatabase(url, () => {}, { maxConnections: 1, isPooled });
  try {
    await sql.raw(statement).execute(db);
    return true;
  } finally {
    await close();
  }
}
