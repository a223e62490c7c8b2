/** Puts together what both halves need, and takes it apart in the opposite order. */
import { resolve } from 'node:path';
import { openDatabase } from '../db/database.ts';
import { findIsolation } from './children/isolation.ts';
import { keepRemovingAbandonedUploads } from './files/abandoned-uploads.ts';
import { Spool } from './files/spool.ts';
import { selectAudioStore } from './audio-store.ts';
import { useDatabase } from './database-url.ts';
import { Metrics } from './metrics.ts';
import { prepareDatabase } from './migration.ts';
import { Queue } from './queue/queue.ts';
import { createTracing } from './tracing/tracing.ts';
import type { Isolation } from './children/isolation.ts';
import type { Config } from './config.ts';
import type { Foundation } from './context.ts';
import type { Log } from './log.ts';

export interface LaidFoundation extends Foundation {
  databaseUrl: string;
  close(): Promise<void>;
}

/**
 * @param role see {@link Queue}
 * @throws {WrongDatabaseVersion}
 */
export async function layFoundation(config: Config, log: Log, role: 'worker' | 'api'): Promise<LaidFoundation> {
  const onNotice = (message: string) => log.info(message);
  const inUse = await useDatabase(config, onNotice);
  const { db, close } = openDatabase(inUse.url, (error) => log.warn({ err: error }, 'a database connection broke'));
  try {
    // Others may still serve from a database of one's own: whoever runs them says when it is migrated.
    const mayMigrate = config.databaseUrl === undefined;
    await prepareDatabase(db, { url: inUse.url, mayMigrate, onNotice });
    const queue = new Queue(inUse.url, log, role);
    await queue.start();
    const audioStore = await selectAudioStore(config);
    await audioStore.open();
    const spool = new Spool(config.dataDir);
    await spool.open();
    // Transcripts can be read without it.
    audioStore
      .checkReadable()
      .catch((error: unknown) => log.error({ err: error }, 'the audio store can not be used yet'));
    logIsolation(await findIsolation(resolve(config.dataDir)), log);
    const tracing = await createTracing(config.otlpEndpoint, log);
    const leaveUploads = keepRemovingAbandonedUploads(spool, log);
    return {
      ...{ config, log, db, queue, audioStore, spool, metrics: new Metrics(db, log), tracing },
      databaseUrl: inUse.url,
      async close() {
        await leaveUploads();
        await Promise.all([queue.stop(), tracing.close()]);
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

function logIsolation(isolation: Isolation, log: Log): void {
  if (isolation === 'none') log.warn('children have network access: this machine allows no namespaces');
  else log.info({ isolation }, 'children have no network access');
}
