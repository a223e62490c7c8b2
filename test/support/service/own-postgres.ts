/** A PostgreSQL of a test's own, which it may stop and start: everybody else's goes on. */
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { clusterPaths } from '../../../db/embedded/cluster.ts';
import { joinEmbeddedPostgres } from '../../../db/embedded/embedded-postgres.ts';
import { stopPostmaster } from '../../../db/embedded/stop-postmaster.ts';

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
  const folder = join(await mkdtemp(join(process.env.TEST_FOLDER!, 'own-')), 'postgres');
  const uses = [await joinEmbeddedPostgres({ folder })];
  const { url } = uses[0]!;
  return {
    url,
    folder,
    stop: () => stopPostmaster(clusterPaths(folder)),
    async start() {
      uses.push(await joinEmbeddedPostgres({ folder }));
      if (uses.at(-1)!.url !== url) throw new Error('PostgreSQL came back on another port');
    },
    async leave() {
      for (const use of uses) await use.leave();
    },
  };
}
