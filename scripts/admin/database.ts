import { setRoleDefaults } from '../../db/connection/pooler.ts';
import { readSchemaVersion } from '../../db/migrations/schema-version.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import { migrateCommand, prepareDatabase, stateOf } from '../../src/process/migration.ts';
import { queueTablesVersion } from '../../src/queue/queue.ts';
import { addCommand, addGroup } from './command.ts';
import { runOnDatabase } from './database-run.ts';
import { count, minuteOf, table } from '../terminal/table.ts';
import type { Command } from 'commander';
import type { SchemaVersion } from '../../db/migrations/schema-version.ts';
import type { DatabaseState } from '../../src/process/migration.ts';
import type { AdminContext } from './admin-context.ts';
import type { Answer } from './answer.ts';
import type { Report } from './command.ts';

export function addDatabaseCommands(program: Command, answer: Answer, env: NodeJS.ProcessEnv): void {
  const group = addGroup(program, 'database', "Compare the database's tables with this version, and migrate them.");

  addCommand(group, 'status', 'Show what ran on the database and what is missing; changes nothing.', 'status').action(
    (_options: object, command: Command) => answer(command, showStatus, 'compares'),
  );

  const describes = 'Bring the database to this version, while the version before goes on serving.';
  addCommand(group, 'migrate', describes, 'migrate').action((_options: object, command: Command) =>
    answer(command, migrate, 'migrates'),
  );

  const runs =
    'Run a program on the database, such as psql: it is told where and with which password, by PGHOST and the like.';
  addCommand(group, 'run', runs, 'run -- psql', 'run -- pg_dump --format=custom --file=transcription.dump')
    .argument('<program...>', 'the program and its arguments, after "--"')
    .option('--new', 'for pg_restore: also on an empty database; the embedded one is made where there is none')
    .action((typed: string[], options: { new?: true }, command: Command) =>
      answer(
        command,
        (admin, _form, interruption) => runOnDatabase(admin, typed, env, interruption),
        options.new ? 'migrates' : 'uses',
      ),
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
  const ran = await prepareDatabase(db, { url: databaseUrl, mayMigrate: true, onNotice });
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
      `${minuteOf(appliedAt).replace('T', ' ')} UTC${unknown.includes(name) ? ', not known to this version' : ''}`,
    ]),
    ...missing.map((name) => [name, 'missing']),
    ["queue's tables", `version ${queueTables ?? 'none'}; this version needs ${queueTablesVersion}`],
  ];
  return table([{ head: 'Migration' }, { head: 'Applied' }], rows, '');
}
