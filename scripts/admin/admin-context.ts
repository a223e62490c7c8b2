/** What commands work with. They get no more of the service than they need, so that most of them are quick. */
import { openDatabase, patientTimeoutMs } from '../../db/connection/database.ts';
import { DatabaseUnsupported } from '../../db/connection/database-errors.ts';
import { inSnapshot } from '../../db/connection/transaction.ts';
import { readSchemaVersion } from '../../db/migrations/schema-version.ts';
import { addToSupportLog } from '../../db/accounts/support-log.ts';
import { audioStoreBackend, selectAudioStore } from '../../src/files/verified-audio-store.ts';
import { isPooled, mayHaveDatabase, useDatabase } from '../../src/process/database-url.ts';
import { createLog } from '../../src/ops/log.ts';
import { migrateOnStart, stateOf, wrongVersion } from '../../src/process/migration.ts';
import { Queue } from '../../src/queue/queue.ts';
import { Refusal } from '../terminal/refusal.ts';
import { briefly } from '../terminal/text.ts';
import type { Db, Trx } from '../../db/connection/database.ts';
import type { LoggedAct } from '../../db/accounts/support-log.ts';
import type { Config } from '../../src/config/config.ts';
import type { AudioStore, AudioStoreBackend } from '../../src/files/audio-store.ts';
import type { Screen } from '../terminal/terminal.ts';

export interface AdminContext {
  db: Db;
  /** Leads to the server itself, also where a pooler stands before it: what commands ask may take long. */
  databaseUrl: string;
  /** Whether a pooler stands before the database. */
  isPooled: boolean;
  /** Whether the database is the embedded one, below `dataDir`. */
  isEmbedded: boolean;
  dataDir: string;
  /** Once it is proven to be the database's. */
  audioStore: AudioStore;
  /** The same, whatever it is: for commands that judge or change that. */
  bareStore: AudioStoreBackend;
  screen: Screen;
  /**
   * The queue. It is started at the first call. Never call this inside a transaction, whose locks would be held
   * meanwhile.
   */
  queue(): Promise<Queue>;
  /** Adds to the log of what support did: the last that the transaction of a change does. */
  record(trx: Trx, act: LoggedAct): Promise<void>;
}

/**
 * How a command opens the database. `works`: as a process of the service does. `looks`: it changes nothing, and refuses a
 * database that is absent or of another version. `compares`: it changes nothing and takes any version. `uses`: it takes
 * any version, and refuses a database that is absent or empty. `migrates`: it takes any version, and makes a database
 * where there is none.
 */
export type Opening = 'works' | 'looks' | 'compares' | 'uses' | 'migrates';

/**
 * Runs `work` on the database of the configuration, and leaves the database however `work` ends. The embedded
 * PostgreSQL is shared with a running service, or started and stopped.
 *
 * @param screen where it is said why it takes longer
 * @param who stands in the log of what support did
 */
export async function withAdminContext<T>(
  config: Config,
  screen: Screen,
  work: (admin: AdminContext) => Promise<T>,
  who: string,
  opening: Opening = 'works',
): Promise<T> {
  const onNotice = (message: string) => void screen.write(`${message}\n`);
  const onlyReads = opening === 'looks' || opening === 'compares';
  if (!mayHaveDatabase(config)) {
    if (onlyReads) throw new Refusal(absent);
    if (opening === 'uses') throw new Refusal(nothingToUse(config));
  }
  const inUse = await useDatabase(config, onNotice).catch(refuseUnopened);
  // A connection that breaks while idle is not reported: the next query fails.
  const { db, close } = openDatabase(inUse.directUrl, () => {}, {
    maxConnections: 2,
    server: onlyReads ? 'any' : 'primary',
  });
  let started: Promise<Queue> | undefined;
  try {
    const mayMigrate = config.databaseUrl === undefined;
    if (opening === 'works')
      await migrateOnStart(db, { url: inUse.directUrl, mayMigrate, onNotice }).catch(refuseUnopened);
    if (opening === 'looks') await refuseOtherVersion(db).catch(refuseUnopened);
    if (opening === 'uses') await refuseEmpty(db, config).catch(refuseUnopened);
    const queue = () => (started ??= startQueue(inUse.directUrl));
    const record = (trx: Trx, act: LoggedAct) => addToSupportLog(trx, who, act);
    const { dataDir } = config;
    const isEmbedded = config.databaseUrl === undefined;
    const [audioStore, bareStore] = [await selectAudioStore(config, db), await audioStoreBackend(config)];
    const files = { dataDir, audioStore, bareStore };
    const database = { db, databaseUrl: inUse.directUrl, isPooled: isPooled(inUse), isEmbedded };
    return await work({ ...database, ...files, screen, queue, record });
  } finally {
    const queue = await started?.catch(() => undefined);
    await queue?.stop();
    await close();
    await inUse.leave();
  }
}

/** Reads what is of one moment on a connection of its own, for as long as that takes. */
export const readAtOneMoment = <T>(admin: { databaseUrl: string }, read: (snapshot: Trx) => Promise<T>): Promise<T> =>
  onPatientDatabase(admin, (db) => inSnapshot(db, read));

/** Asks a database, which may be a standby, for as long as that takes. */
export async function onPatientDatabase<T>(
  { databaseUrl }: { databaseUrl: string },
  ask: (db: Db) => Promise<T>,
): Promise<T> {
  const limits = { maxConnections: 2, timeoutMs: patientTimeoutMs, server: 'any' } as const;
  const { db, close } = openDatabase(databaseUrl, () => {}, limits);
  try {
    return await ask(db);
  } finally {
    await close();
  }
}

const absent = 'There is no database of the service yet: its first start makes it.';

async function refuseOtherVersion(db: Db): Promise<void> {
  const version = await readSchemaVersion(db);
  const state = stateOf(version);
  if (state === 'absent') throw new Refusal(absent);
  if (state !== 'current') throw wrongVersion(state, version);
}

/** A wrong place would pass for the service's: a dump of it would be empty, and a success. */
async function refuseEmpty(db: Db, config: Config): Promise<void> {
  const { applied } = await readSchemaVersion(db);
  if (applied.length === 0) throw new Refusal(nothingToUse(config));
}

const nothingToUse = ({ databaseUrl, dataDir }: Config) =>
  `There are no tables of the service ${databaseUrl === undefined ? `in ${dataDir}` : 'behind DATABASE_URL'}. ` +
  'Are DATABASE_URL and DATA_DIR those of the service? To fill a new database from a dump, type: ' +
  'npm run admin -- database run --new -- pg_restore …';

/** In most cases the environment points to a wrong place. A stack would hide the line that helps. */
function refuseUnopened(error: unknown): never {
  if (error instanceof Refusal || error instanceof DatabaseUnsupported) throw error;
  if (/disk is full|no space left/i.test(briefly(error)))
    throw new Refusal(
      'The disk of the database is full. Make room there first: scripts/deploy/OPERATIONS.md says how.',
    );
  throw new Refusal(
    `The database can not be opened: ${briefly(error)}. Are DATABASE_URL and DATA_DIR those of the service?`,
  );
}

async function startQueue(url: string): Promise<Queue> {
  const queue = new Queue(url, createLog({ logLevel: 'silent' }), 'api');
  await queue.start();
  return queue;
}
