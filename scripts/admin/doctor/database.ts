/** The database: whether it lets the service in, is as the service needs it, and has room. */
import {
  lackOfConnections,
  mostConnections,
  mostDirectConnections,
  readConnectionRoom,
  readServer,
} from '../../../db/connection/server.ts';
import { openDatabase } from '../../../db/connection/database.ts';
import { checkConnections, checkNamedStatements, hearsNotices } from '../../../db/connection/pooler.ts';
import { readSchemaVersion } from '../../../db/migrations/schema-version.ts';
import { explainDatabaseFault } from '../../../db/connection/explained-faults.ts';
import { isPooled, mayHaveDatabase, useDatabase } from '../../../src/process/database-url.ts';
import { WrongDatabaseVersion, migrateCommand, stateOf } from '../../../src/process/migration.ts';
import { count } from '../../terminal/table.ts';
import type { Check, Patient } from './check.ts';

const oldestMajor = 13;
/** Beyond it, the log of one machine and the times of another can't be read side by side. */
const mostClockMs = 5_000;

async function login(patient: Patient): Promise<string> {
  const { config, afterwards } = patient;
  if (!mayHaveDatabase(config)) return 'none yet: the first start makes it';
  const inUse = await useDatabase(config, () => {});
  afterwards.push(() => inUse.leave());
  const pool = openDatabase(inUse.url, () => {}, { maxConnections: 2, isPooled: isPooled(inUse) });
  afterwards.push(() => pool.close());
  const direct = openDatabase(inUse.directUrl, () => {}, { maxConnections: 1 });
  afterwards.push(() => direct.close());
  await explainDatabaseFault('DATABASE_URL', readServer(pool.db));
  const directly = config.databaseDirectUrl === undefined ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL';
  const { version, major } = await explainDatabaseFault(directly, readServer(direct.db));
  if (major < oldestMajor) throw new Error(`PostgreSQL ${version}`);
  patient.database = { db: pool.db, direct: direct.db, inUse };
  return `PostgreSQL ${version}`;
}

async function settings({ config, database }: Patient): Promise<string> {
  if (config.databaseUrl !== undefined)
    await explainDatabaseFault('DATABASE_URL', checkConnections(database!.db, isPooled(database!.inUse)));
  return 'UTC, ISO, 30 s for a statement';
}

async function pooler({ database }: Patient): Promise<string> {
  const { db, inUse } = database!;
  if (isPooled(inUse)) await checkNamedStatements(inUse.url);
  if (!(await hearsNotices(inUse.directUrl, db))) throw new Error('LISTEN is deaf');
  return isPooled(inUse) ? 'keeps named statements; LISTEN goes past it' : 'none; LISTEN hears';
}

async function connections({ database }: Patient): Promise<string> {
  const { direct, inUse } = database!;
  const needed = isPooled(inUse) ? mostDirectConnections : mostConnections;
  const { limit, open, ours } = await readConnectionRoom(direct);
  const others = open - ours;
  const processes = Math.floor((limit - others) / needed);
  const found = `${limit}, ${others} of them used by others: room for ${processes} ${processes === 1 ? 'process' : 'processes'} of the service`;
  if (processes < 1) throw new Error(found);
  const lack = await lackOfConnections(direct, needed);
  return lack === undefined ? found : `${found}, and not for one more than run`;
}

async function tables(patient: Patient): Promise<string> {
  const version = await readSchemaVersion(patient.database!.direct);
  const state = stateOf(version);
  if (state === 'too_old' || state === 'too_new') throw new WrongDatabaseVersion(state, version);
  patient.hasTables = state === 'current';
  return state === 'current' ? 'of this version' : 'none yet: the first start makes them';
}

async function clock({ database }: Patient): Promise<string> {
  const asked = Date.now();
  const { now } = await readServer(database!.direct);
  const answered = Date.now();
  // The database looked at its clock at some moment between.
  const aheadMs = Math.round(Math.max(asked - now, 0) - Math.max(now - answered, 0));
  if (Math.abs(aheadMs) <= mostClockMs) return "as the database's";
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  throw new Error(`${count(seconds, 'second')} ${aheadMs > 0 ? 'ahead of' : 'behind'} the database's`);
}

export const databaseChecks: Check[] = [
  {
    ...{ name: 'database', look: login },
    todo: 'Is PostgreSQL 13 or newer running there, and are DATABASE_URL and DATABASE_DIRECT_URL right?',
  },
  {
    ...{ name: 'its settings', needs: 'database', look: settings },
    todo: `With a pooler: DATABASE_DIRECT_URL, then ${migrateCommand}.`,
  },
  {
    ...{ name: 'pooler', needs: 'database', look: pooler },
    todo: 'Name the server behind the pooler in DATABASE_DIRECT_URL; PgBouncer 1.21 or newer with max_prepared_statements=200.',
  },
  {
    ...{ name: 'connections', needs: 'database', look: connections },
    todo: 'Raise max_connections, or put a pooler before the database.',
  },
  { name: 'tables', needs: 'database', look: tables, todo: `Type ${migrateCommand}, or start the newer version.` },
  {
    ...{ name: 'clock', needs: 'database', look: clock },
    todo: 'Let both machines ask a time server (timedatectl set-ntp true).',
  },
];
