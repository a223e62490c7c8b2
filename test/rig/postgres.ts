/** PostgreSQL as a program that a suite starts and ends as it likes. */
import { appendFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { openDatabase } from '../../db/connection/database.ts';
import { clusterPaths, createCluster, makeFolder, readPassword, roleName } from '../../db/embedded/cluster.ts';
import { cleanEnvironment, findPrograms } from '../../db/embedded/programs.ts';
import { serverArguments } from '../../db/embedded/server.ts';
import { Machine } from './machine.ts';
import { subnet } from './network.ts';
import type { Place } from './place.ts';

/**
 * Up, with an empty database.
 * @param folder not there yet
 * @param wrapper a program, with its arguments, that becomes the command it is given
 */
export async function startPostgres(place: Place, folder: string, port: number, wrapper: readonly string[] = []) {
  const paths = clusterPaths(folder);
  makeFolder(paths);
  const programs = await findPrograms(paths);
  await createCluster(paths, programs);
  await appendFile(join(paths.data, 'pg_hba.conf'), `host all all ${subnet} scram-sha-256\n`);
  const settings = [...serverArguments('rig', port), '-c', `listen_addresses=${place.address}`];
  const urlOf = (name: string) => `postgres://${roleName}:${readPassword(paths)}@${place.address}:${port}/${name}`;
  const machine = new Machine(place, {
    command: [...programs.prefix, ...wrapper, programs.postgres, '-D', paths.data, ...settings],
    ...{ env: cleanEnvironment(), folder: paths.data },
    // A process of another start may have its number by now, which PostgreSQL would respect.
    prepare: () => rm(paths.postmasterPid, { force: true }),
    isUp: () => ask(urlOf('postgres'), 'select 1'),
  });
  await machine.start();
  await ask(urlOf('postgres'), `create database ${roleName}`);
  return { machine, url: urlOf(roleName) };
}

/** Over a connection that is closed again. */
export async function ask(url: string, statement: string): Promise<true> {
  const { db, close } = openDatabase(url, () => {}, { maxConnections: 1 });
  try {
    await sql.raw(statement).execute(db);
    return true;
  } finally {
    await close();
  }
}
