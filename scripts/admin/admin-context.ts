/** What commands work with. They get no more of the service than they need, so that most of them are quick. */
import { openDatabase } from '../../db/database.ts';
import { databaseVersion, migrateToLatest } from '../../db/migrate.ts';
import { addToSupportLog } from '../../db/support-log.ts';
import { AudioStore } from '../../src/files/audio-store.ts';
import { mayHaveDatabase, useDatabase } from '../../src/database-url.ts';
import { createLog } from '../../src/log.ts';
import { Queue } from '../../src/queue/queue.ts';
import { Refusal } from '../terminal/refusal.ts';
import { briefly } from './exit.ts';
import type { Db, Trx } from '../../db/database.ts';
import type { LoggedAct } from '../../db/support-log.ts';
import type { Config } from '../../src/config.ts';

export interface AdminContext {
  db: Db;
  databaseUrl: string;
  /** Whether the database is the embedded one, below `dataDir`. */
  isEmbedded: boolean;
  dataDir: string;
  audioStore: AudioStore;
  /**
   * The queue. It is started at the first call. Never call this inside a transaction, whose locks would be held
   * meanwhile.
   */
  queue(): Promise<Queue>;
  /** Adds to the log of what support did: the last that the transaction of a change does. */
  record(trx: Trx, act: LoggedAct): Promise<void>;
}

/**
 * Runs `work` on the database of the configuration, and leaves the database however `work` ends. The embedded
 * PostgreSQL is shared with a running service, or started and stopped.
 *
 * @param onNotice hears why it takes longer
 * @param who stands in the log of what support did
 * @param only `looks` neither makes nor migrates the database: one that is absent or of another version is refused
 */
export async function withAdminContext<T>(
  config: Config,
  onNotice: (message: string) => void,
  work: (admin: AdminContext) => Promise<T>,
  who: string,
  only?: 'looks',
): Promise<T> {
  if (only === 'looks' && !mayHaveDatabase(config)) throw new Refusal(absent);
  const inUse = await useDatabase(config, onNotice).catch(refuseUnopened);
  // A connection that breaks while it is idle needs no words: the next query fails and tells it.
  const { db, close } = openDatabase(inUse.url, () => {}, 2, undefined, only === 'looks' ? 'any' : 'primary');
  let started: Promise<Queue> | undefined;
  try {
    await (only === 'looks' ? refuseOtherVersion(db) : migrateToLatest(db)).catch(refuseUnopened);
    const queue = () => (started ??= startQueue(inUse.url));
    const record = (trx: Trx, act: LoggedAct) => addToSupportLog(trx, who, act);
    const { dataDir } = config;
    const isEmbedded = config.databaseUrl === undefined;
    const files = { dataDir, audioStore: new AudioStore(dataDir) };
    return await work({ db, databaseUrl: inUse.url, isEmbedded, ...files, queue, record });
  } finally {
    const queue = await started?.catch(() => undefined);
    await queue?.stop();
    await close();
    await inUse.leave();
  }
}

const absent = 'There is no database of the service yet: its first start makes it.';
const ofAnotherVersion =
  'The database is of another version of the service: check it with that one, or start this one, which migrates it.';

async function refuseOtherVersion(db: Db): Promise<void> {
  const version = await databaseVersion(db);
  if (version !== 'this') throw new Refusal(version === 'absent' ? absent : ofAnotherVersion);
}

/** In most cases the environment points to a wrong place. A stack would hide the line that helps. */
function refuseUnopened(error: unknown): never {
  if (error instanceof Refusal) throw error;
  throw new Refusal(
    `The database can not be opened: ${briefly(error)}. Are DATABASE_URL and DATA_DIR those of the service?`,
  );
}

async function startQueue(url: string): Promise<Queue> {
  const queue = new Queue(url, createLog({ logLevel: 'silent' }), 'api');
  await queue.start();
  return queue;
}
