/** Whether a database is of this version of the service, and what becomes of it when it is not. */
import { DatabaseUnsupported } from '../../db/connection/database-errors.ts';
import { migrateAlone, runMigrations } from '../../db/migrations/migrate.ts';
import { setRoleDefaults } from '../../db/connection/pooler.ts';
import { readSchemaVersion } from '../../db/migrations/schema-version.ts';
import { createLog } from '../ops/log.ts';
import { Queue, queueTablesVersion } from '../queue/queue.ts';
import type { Db } from '../../db/connection/database.ts';
import type { SchemaVersion } from '../../db/migrations/schema-version.ts';

/** `absent`: the service never ran on it. A first start that was interrupted leaves it so, too. */
export type DatabaseState = 'current' | 'too_old' | 'too_new' | 'absent';

export function stateOf({ missing, unknown, queueTables }: SchemaVersion): DatabaseState {
  if (unknown.length > 0 || (queueTables ?? 0) > queueTablesVersion) return 'too_new';
  // They are made last.
  if (queueTables === undefined) return 'absent';
  return missing.length > 0 || queueTables < queueTablesVersion ? 'too_old' : 'current';
}

export const migrateCommand = 'npm run admin -- database migrate';

/** What is wrong with a database of another version of the service, and what to type. */
export function wrongVersion(state: 'too_old' | 'too_new', { missing, unknown }: SchemaVersion): DatabaseUnsupported {
  const names = (state === 'too_old' ? missing : unknown).join(', ') || "the queue's tables";
  return new DatabaseUnsupported(
    state === 'too_old'
      ? `The database is of an older version of the service and lacks ${names}. Type: ${migrateCommand}`
      : `The database is of a newer version of the service: this one does not know ${names}. Start the newer one.`,
  );
}

interface Preparation {
  url: string;
  /** Whether a database that is too old is migrated. An empty one is created by the first process. */
  mayMigrate: boolean;
  /** Whether the service is to reach the database through a pooler. */
  forPooler?: boolean;
  onNotice: (message: string) => void;
}

/**
 * Makes sure that the database is of this version. While another process migrates it, this one waits.
 *
 * @param db a pool
 * @returns the names of the migrations that ran
 * @throws {DatabaseUnsupported}
 */
export async function migrateOnStart(db: Db, { url, mayMigrate, forPooler, onNotice }: Preparation): Promise<string[]> {
  if ((await checkedState(db, true)) === 'current') return [];
  const onWait = () => onNotice('another process migrates the database: waiting until it is done');
  return migrateAlone(url, onWait, async (connection) => {
    if ((await checkedState(connection, mayMigrate)) === 'current') return [];
    const ran = await runMigrations(connection, onNotice);
    if (forPooler === true) await setRoleDefaults(connection);
    // Last: it marks the database as current.
    await migrateQueue(url);
    return ran;
  });
}

async function checkedState(db: Db, mayBeOld: boolean): Promise<DatabaseState> {
  const version = await readSchemaVersion(db);
  const state = stateOf(version);
  if (state === 'too_new' || (state === 'too_old' && !mayBeOld)) throw wrongVersion(state, version);
  return state;
}

/** pg-boss makes and migrates its tables when it starts. */
async function migrateQueue(url: string): Promise<void> {
  const queue = new Queue(url, createLog({ logLevel: 'silent' }), 'api');
  try {
    await queue.start();
  } finally {
    await queue.stop();
  }
}
