import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { hasSupportLog } from '../../db/accounts/support-log.ts';
import { setRoleDefaults } from '../../db/connection/pooler.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import { readSchemaVersion } from '../../db/migrations/schema-version.ts';
import { migrateCommand, migrateOnStart, stateOf } from '../../src/process/migration.ts';
import { queueTablesVersion } from '../../src/queue/queue.ts';
import { Refusal } from '../terminal/refusal.ts';
import { count, minuteOf, table } from '../terminal/table.ts';
import { addCommand, addGroup } from './command.ts';
import { adoptStore } from '../../src/files/verified-audio-store.ts';
import type { Command } from 'commander';
import type { SchemaVersion } from '../../db/migrations/schema-version.ts';
import type { DatabaseState } from '../../src/process/migration.ts';
import type { AdminContext } from './admin-context.ts';
import type { Answer, Asked, LongReport, Report } from './command.ts';

export function addDatabaseCommands(program: Command, answer: Answer, env: NodeJS.ProcessEnv): void {
  const group = addGroup(program, 'database', "Compare the database's tables with this version, and migrate them.");

  addCommand(group, 'status', 'Show what ran on the database and what is missing; changes nothing.', 'status').action(
    answer(showStatus, { opening: 'compares' }),
  );

  const describes = 'Bring the database to this version, while the version before goes on serving.';
  addCommand(group, 'migrate', describes, 'migrate').action(answer(migrate, { opening: 'migrates' }));

  const runs =
    'Run a program on the database, such as psql: it is told where and with which password, by PGHOST and the like.';
  addCommand(group, 'run', runs, 'run -- psql', 'run -- pg_dump --format=custom --file=transcription.dump')
    .argument('<program...>', 'the program and its arguments, after "--"')
    .option('--new', 'for pg_restore: also on an empty database; the embedded one is made where there is none')
    .action(
      answer((admin, typed: string[]) => runOnDatabase(admin, typed, env), {
        opening: (_typed: string[], options: { new?: true }) => (options.new ? 'migrates' : 'uses'),
      }),
    );
}

/** Exit code 1 when this version would refuse to serve from the database. */
export async function showStatus({ db }: AdminContext): Promise<Report> {
  const version = await readSchemaVersion(db);
  const state = stateOf(version);
  const text = `${migrationTable(version)}\n\n${sentences[state]}`;
  return { json: statusJson(version), text, exitCode: state === 'current' ? 0 : 1 };
}

export async function migrate({ db, databaseUrl, isPooled, record, screen }: AdminContext): Promise<Report> {
  const onNotice = (message: string) => void screen.write(`${message}\n`);
  const ran = await migrateOnStart(db, { url: databaseUrl, mayMigrate: true, onNotice });
  // Afterwards, since the log may be among what is made. The migrations have transactions of their own.
  if (ran.length > 0) await inTransaction(db, (trx) => record(trx, { act: 'database migrate', details: { ran } }));
  if (isPooled) await setRoleDefaults(db);
  const version = await readSchemaVersion(db);
  const did = ran.length > 0 ? `${count(ran.length, 'migration')} ran: ${ran.join(', ')}.` : 'There was nothing to do.';
  return { json: { ...statusJson(version), ran }, text: `${did}\n${sentences[stateOf(version)]}` };
}

const sentences: Record<DatabaseState, string> = {
  current: 'The database is of this version.',
  too_old: `The database is too old for this version. Type: ${migrateCommand}`,
  too_new: 'The database is too new for this version: start the version that migrated it.',
  absent: 'The service never ran on this database: its first start makes the tables.',
};

const statusJson = (version: SchemaVersion) => ({
  id: 'database',
  state: stateOf(version),
  applied: version.applied.map(({ name, appliedAt }) => ({ id: name, appliedAt })),
  missing: version.missing,
  unknown: version.unknown,
  ...(version.queueTables !== undefined && { queueTables: version.queueTables }),
  requiredQueueTables: queueTablesVersion,
});

function migrationTable({ applied, missing, unknown, queueTables }: SchemaVersion): string {
  const rows = [
    ...applied.map(({ name, appliedAt }) => [
      name,
      `${minuteOf(appliedAt)} UTC${unknown.includes(name) ? ', not known to this version' : ''}`,
    ]),
    ...missing.map((name) => [name, 'missing']),
    ["queue's tables", `version ${queueTables ?? 'none'}; this version needs ${queueTablesVersion}`],
  ];
  return table(['Migration', 'Applied'], rows, '');
}

/**
 * Changes no tables itself: a dump is restored to a database that is empty. The program's output is the command's own, and
 * so is its exit code.
 *
 * @throws {Refusal} when the program can't be started
 */
export async function runOnDatabase(
  admin: Asked,
  [program, ...args]: string[],
  env: NodeJS.ProcessEnv,
): Promise<LongReport> {
  if (await hasSupportLog(admin.db)) await inTransaction(admin.db, (trx) => admin.record(trx, { act: 'database run' }));
  return {
    async print() {
      const child = spawn(program!, args, { env: environmentFor(admin.databaseUrl, env), stdio: 'inherit' });
      // The terminal gives Ctrl-C to the program as well, and what it means there is the program's affair: in psql it
      // cancels a query. SIGTERM came to this process alone.
      const takeBack = admin.interruption.handOver((signal) => void (signal === 'SIGTERM' && child.kill(signal)));
      const ended = once(child, 'exit').finally(takeBack);
      const [code] = await ended.catch((error: Error) => {
        throw new Refusal(`${program} can not be started: ${error.message}.`);
      });
      return (code as number | null) ?? 1;
    },
  };
}

/** Of the parameters of a URL, those that node-postgres takes and that libpq reads from a variable. */
const variables = {
  host: 'PGHOST',
  port: 'PGPORT',
  user: 'PGUSER',
  password: 'PGPASSWORD',
  options: 'PGOPTIONS',
  sslrootcert: 'PGSSLROOTCERT',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
  sslnegotiation: 'PGSSLNEGOTIATION',
};

/** What is node-postgres's own, and what is nearest to it. libpq, too, takes `ssl=true` in a URL for `require`. */
const nearestModes: Record<string, string> = { 'no-verify': 'require', true: 'require', 1: 'require', 0: 'disable' };

/** What `env` becomes. What the URL leaves out stays as it is there, since the service takes it from there as well. */
export function environmentFor(databaseUrl: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { hostname, port, username, password, pathname, searchParams } = new URL(databaseUrl);
  const besideQuery = { host: hostname.replace(/^\[|\]$/g, ''), port, user: username, password };
  const places = Object.entries(besideQuery).map(([name, text]) => [name, decoded(text)] as const);
  // What stands in the query goes before the rest of the URL.
  const said = new Map([...places, ...searchParams].filter(([, value]) => value !== ''));
  const mode = said.get('sslmode') ?? said.get('ssl') ?? env['PGSSLMODE'];
  return {
    ...env,
    // Without any host, libpq would look for a socket, and node-postgres does not.
    PGHOST: env['PGHOST'] || 'localhost',
    ...Object.fromEntries(
      Object.entries(variables).flatMap(([name, variable]) => (said.has(name) ? [[variable, said.get(name)]] : [])),
    ),
    PGDATABASE: decoded(pathname.slice(1)),
    PGSSLMODE: mode && (nearestModes[mode] ?? mode),
    // They go before PGHOST and would lead elsewhere.
    ...{ PGSERVICE: undefined, PGHOSTADDR: undefined },
  };
}

/** A percent sign that stands for itself is taken as it is, as node-postgres does. */
const decoded = (text: string) => text.replace(/(%[\da-f]{2})+/gi, (encoded) => decodeURIComponent(encoded));

/** `store adopt`: what an operator says when the database and its audio were brought together anew. */
export function addStoreCommands(program: Command, answer: Answer): void {
  const group = addGroup(program, 'store', 'Which audio store is the one of this database.');
  const adopts =
    "Take the store of AUDIO_STORE and DATA_DIR for this database's from now on. Audio that is not in it counts as lost, and what " +
    'no session of this database needs is removed from it.';
  addCommand(group, 'adopt', adopts, 'adopt').action(answer(adopt));
}

export async function adopt({ db, bareStore, record }: AdminContext): Promise<Report> {
  const id = await adoptStore(db, bareStore);
  await inTransaction(db, (trx) => record(trx, { act: 'store adopt' }));
  const text = `${bareStore.place} is the audio store of this database. Running services go on within seconds.`;
  return { json: { id, place: bareStore.place }, text };
}
