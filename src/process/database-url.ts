import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { clusterExists, clusterPaths } from '../../db/embedded/cluster.ts';
import { joinEmbeddedPostgres } from '../../db/embedded/embedded-postgres.ts';
import type { Config } from '../config/config.ts';

export interface DatabaseInUse {
  readonly url: string;
  /** Leads to the server itself, where `url` leads to a pooler. Otherwise the same. */
  readonly directUrl: string;
  /** Stops the embedded PostgreSQL when this process was its last user. */
  leave(): Promise<void>;
}

export const isPooled = ({ url, directUrl }: DatabaseInUse): boolean => url !== directUrl;

/** Whether there may be a database already: only the server knows what is behind `DATABASE_URL`. */
export function mayHaveDatabase({ databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>): boolean {
  return databaseUrl !== undefined || clusterExists(clusterPaths(postgresFolder(dataDir)));
}

export const postgresFolder = (dataDir: string) => join(dataDir, 'postgres');

/** The database of `DATABASE_URL`, or the embedded one below `DATA_DIR`, started if it does not run. */
export async function useDatabase(
  { databaseUrl, databaseDirectUrl, dataDir }: Pick<Config, 'databaseUrl' | 'databaseDirectUrl' | 'dataDir'>,
  onNotice: (message: string) => void,
): Promise<DatabaseInUse> {
  if (databaseUrl !== undefined)
    return { url: databaseUrl, directUrl: databaseDirectUrl ?? databaseUrl, leave: async () => {} };
  // Others may pass through (the embedded PostgreSQL runs as another user below root) but not look around.
  await mkdir(dataDir, { recursive: true, mode: 0o711 });
  const postgres = await joinEmbeddedPostgres({ folder: postgresFolder(dataDir), onNotice });
  postgres.keepRunning(() => {
    onNotice(
      'PostgreSQL came back on another port, since its own was taken: this process stops and must be started again',
    );
    process.kill(process.pid, 'SIGTERM');
  });
  return { url: postgres.url, directUrl: postgres.url, leave: () => postgres.leave() };
}
