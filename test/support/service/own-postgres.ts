/** A PostgreSQL of a test's own, which it may stop and start: everybody else's goes on. */
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { openConnection } from '../../../db/connection/database.ts';
import { clusterPaths, makeFolder } from '../../../db/embedded/cluster.ts';
import { joinEmbeddedPostgres } from '../../../db/embedded/embedded-postgres.ts';
import { stopServer } from '../../../db/embedded/server.ts';

export interface OwnPostgres {
  url: string;
  folder: string;
  /** As `pg_ctl stop` does: every connection is broken, new ones are refused. */
  stop(): Promise<void>;
  /** On the port it had. */
  start(): Promise<void>;
  /** For good. */
  leave(): Promise<void>;
}

export async function startOwnPostgres(): Promise<OwnPostgres> {
  return startIn(await newFolder());
}

/** A hot standby that follows `primary`, which is stopped for a moment to be copied. */
export async function startStandbyOf(primary: OwnPostgres): Promise<OwnPostgres> {
  const [from, to] = [clusterPaths(primary.folder), clusterPaths(await newFolder())];
  await primary.stop();
  makeFolder(to);
  // With its owner, who is another user where the tests run as root.
  spawnSync('cp', ['-a', from.data, to.data]);
  spawnSync('cp', ['-a', join(to.data, 'PG_VERSION'), join(to.data, 'standby.signal')]);
  // Not the port of the primary.
  await rm(join(to.data, 'postmaster.opts'));
  await appendFile(join(to.data, 'postgresql.auto.conf'), `primary_conninfo = '${primary.url}'\n`);
  await primary.start();
  return startIn(to.folder);
}

const newFolder = async () => join(await mkdtemp(join(process.env.TEST_FOLDER!, 'own-')), 'postgres');

async function startIn(folder: string): Promise<OwnPostgres> {
  const uses = [await joinEmbeddedPostgres({ folder })];
  const { url } = uses[0]!;
  return {
    url,
    folder,
    stop: () => stopServer(clusterPaths(folder)),
    async start() {
      uses.push(await joinEmbeddedPostgres({ folder }));
      if (uses.at(-1)!.url !== url) throw new Error('PostgreSQL came back on another port');
    },
    async leave() {
      for (const use of uses) await use.leave();
    },
  };
}

/** @returns rows of a connection that nobody else uses */
export async function ask(url: string, text: string): Promise<Record<string, unknown>[]> {
  const connection = openConnection(url);
  await connection.connect();
  try {
    return (await connection.query<Record<string, unknown>>(text)).rows;
  } finally {
    await connection.end();
  }
}
