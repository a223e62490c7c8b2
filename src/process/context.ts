/** Puts together what both roles need, and takes it apart in the opposite order. */
import { resolve } from 'node:path';
import { openDatabase } from '../../db/connection/database.ts';
import { checkConnections, checkNamedStatements } from '../../db/connection/pooler.ts';
import { findIsolation } from '../children/bounded-command.ts';
import { keepRemovingAbandonedUploads, Spool } from '../files/spool.ts';
import { StorageProbe } from '../files/storage-probe.ts';
import { selectAudioStore } from '../files/verified-audio-store.ts';
import { explainDatabaseFault } from '../../db/connection/explained-faults.ts';
import { withTimeout } from '../concurrency/with-timeout.ts';
import { isPooled, useDatabase } from './database-url.ts';
import { Metrics } from '../ops/metrics.ts';
import { migrateOnStart } from './migration.ts';
import { Queue } from '../queue/queue.ts';
import { collectSpans } from '../tracing/tracing.ts';
import type { Db } from '../../db/connection/database.ts';
import type { Isolation } from '../children/bounded-command.ts';
import type { Config } from '../config/config.ts';
import type { AppContext } from '../sessions/app-context.ts';
import type { DatabaseVariable } from '../../db/connection/explained-faults.ts';
import type { DatabaseInUse } from './database-url.ts';
import type { AudioStore } from '../files/audio-store.ts';
import type { Log } from '../ops/log.ts';

/** A start waits no longer for a store that does not answer. */
const longestOpeningMs = 3_000;

export interface OpenedContext extends AppContext {
  /** Leads to the server itself, also where a pooler stands before it. */
  databaseUrl: string;
  close(): Promise<void>;
}

/**
 * @param role see {@link Queue}
 * @throws {DatabaseUnsupported}
 * @throws {DatabaseUnavailable}
 */
export async function createContext(config: Config, log: Log, role: 'worker' | 'api'): Promise<OpenedContext> {
  const onNotice = (message: string) => log.info(message);
  const inUse = await useDatabase(config, onNotice);
  const onBroken = (error: Error) => log.warn({ err: error }, 'a database connection broke');
  const { db, close } = openDatabase(inUse.url, onBroken, { isPooled: isPooled(inUse) });
  try {
    await prepare(db, inUse, config, onNotice);
    const queue = new Queue(inUse.directUrl, log, role);
    await explainDatabaseFault(directVariable(config), queue.start());
    const metrics = new Metrics(db, log);
    const audioStore = await selectAudioStore(config, db, metrics.onStoreCalled);
    const spool = new Spool(config.dataDir);
    const storageProbe = new StorageProbe(audioStore, spool);
    // Transcripts can be read without it.
    const opened = openStorage(audioStore, spool, storageProbe).catch((error: unknown) =>
      log.error({ err: error }, 'the audio store can not be used yet'),
    );
    await withTimeout(opened, longestOpeningMs, undefined);
    logIsolation(await findIsolation(resolve(config.dataDir)), log);
    const sendSpans = await collectSpans(config.otlpEndpoint, log);
    const leaveUploads = keepRemovingAbandonedUploads(spool, log);
    return {
      ...{ config, log, db, queue, audioStore, spool, storageProbe, metrics },
      databaseUrl: inUse.directUrl,
      async close() {
        await leaveUploads();
        await Promise.all([queue.stop(), sendSpans()]);
        await close();
        await inUse.leave();
      },
    };
  } catch (error) {
    await close();
    await inUse.leave();
    throw error;
  }
}

/** The spool lies on the disk of a store that keeps files, so it comes second. */
async function openStorage(audioStore: AudioStore, spool: Spool, trial: StorageProbe): Promise<void> {
  await audioStore.open();
  await spool.open();
  await audioStore.checkReadable();
  await trial.run();
}

async function prepare(db: Db, inUse: DatabaseInUse, config: Config, onNotice: (message: string) => void) {
  const isEmbedded = config.databaseUrl === undefined;
  // Other processes may still serve from a `DATABASE_URL`: the operator says when it is migrated.
  const options = { url: inUse.directUrl, mayMigrate: isEmbedded, onNotice };
  if (isPooled(inUse)) {
    // The pooler's first connection is to find what its role is given here.
    const direct = openDatabase(inUse.directUrl, () => {}, { maxConnections: 1 });
    try {
      await explainDatabaseFault('DATABASE_DIRECT_URL', migrateOnStart(direct.db, { ...options, forPooler: true }));
    } finally {
      await direct.close();
    }
    await explainDatabaseFault('DATABASE_URL', checkNamedStatements(inUse.url));
  } else await explainDatabaseFault(directVariable(config), migrateOnStart(db, options));
  if (!isEmbedded) await explainDatabaseFault('DATABASE_URL', checkConnections(db, isPooled(inUse)));
}

/** The variable whose URL leads to the server itself. */
const directVariable = ({ databaseDirectUrl }: Config): DatabaseVariable =>
  databaseDirectUrl === undefined ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL';

function logIsolation(isolation: Isolation, log: Log): void {
  if (isolation === 'none') log.warn('children have network access: this machine allows no namespaces');
  else log.info({ isolation }, 'children have no network access');
}
