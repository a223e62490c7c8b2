/** A PostgreSQL that can be killed whole, and comes back. */
import { join } from 'node:path';
import { joinEmbeddedPostgres } from '../../db/embedded/embedded-postgres.ts';
import { killAllOn } from '../../db/embedded/processes.ts';

export interface CrashingPostgres {
  url(): string;
  /** SIGKILL to the postmaster and every backend. */
  kill(): Promise<void>;
  comeBack(): Promise<void>;
  close(): Promise<void>;
}

export async function startCrashingPostgres(folder: string): Promise<CrashingPostgres> {
  let server = await joinEmbeddedPostgres({ folder });
  return {
    url: () => server.url,
    kill: async () => void (await killAllOn(join(folder, 'data'))),
    async comeBack() {
      const previous = server;
      server = await joinEmbeddedPostgres({ folder });
      await previous.leave();
    },
    close: () => server.leave(),
  };
}
