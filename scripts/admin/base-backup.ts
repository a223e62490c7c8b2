/**
 * A copy of a cluster while it works: PostgreSQL's low-level API for base backups (its manual, "Continuous Archiving and
 * Point-in-Time Recovery"). The embedded packages hold no pg_basebackup. Started on such a copy, PostgreSQL replays what
 * was written to its log during the copying, and stands at the moment at which the backup ended.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openConnection } from '../../db/connection/database.ts';

/** Takes what is copied. Names are relative to the data folder. */
export interface Copy {
  folder(name: string): Promise<void>;
  /** A file that may change meanwhile, or be gone. */
  file(name: string, path: string): Promise<void>;
  content(name: string, content: Buffer): Promise<void>;
}

/** What belongs to the running server, or is made anew at every start. Of these folders only the contents are left out. */
const emptied = /^(pg_wal|pg_replslot|pg_dynshmem|pg_notify|pg_serial|pg_snapshots|pg_stat_tmp|pg_subtrans)\//;
const leftOut =
  /(^|\/)(postmaster\.(pid|opts)|pgsql_tmp[^/]*|pg_internal\.init[^/]*|backup_label[^/]*|tablespace_map[^/]*)$/;

/**
 * @param beforeTheEnd runs after all files of the database are copied, and may take long
 * @param atTheEnd runs while nobody can change a session: what the rows say then is what the copy says. It must be quick,
 *   because uploads wait meanwhile
 * @throws when sessions are being changed without a pause for a minute
 */
export async function copyCluster(
  data: string,
  url: string,
  copy: Copy,
  { beforeTheEnd, atTheEnd }: { beforeTheEnd: () => Promise<void>; atTheEnd: () => Promise<void> },
): Promise<void> {
  const connection = openConnection(url, { name: 'transcription backup' });
  await connection.connect();
  try {
    // PostgreSQL keeps its log from here on for as long as the connection lives.
    const slot = `transcription_backup_${process.pid}`;
    await connection.query('select pg_create_physical_replication_slot($1, true, true)', [slot]);
    await connection.query(`select pg_backup_start('transcription', true)`);
    await copyFolder(data, '', copy);
    await copy.content('global/pg_control', await readSteadily(join(data, 'global/pg_control')));
    await beforeTheEnd();

    const run = async (statement: string) => (await connection.query(statement)).rows as Record<string, string>[];
    await lockSessions(run);
    await atTheEnd();
    const [end] = await run(
      'select labelfile, spcmapfile, pg_walfile_name(lsn) as last from pg_backup_stop(wait_for_archive => false)',
    );
    await run('commit');

    await copy.content('backup_label', Buffer.from(end!.labelfile!));
    if (end!.spcmapfile) throw new Error('the embedded PostgreSQL has tablespaces: they can not be backed up');
    const first = /^START WAL LOCATION: \S+ \(file (\w{24})\)/m.exec(end!.labelfile!)![1]!;
    await copyLog(data, first, end!.last!, copy);
  } finally {
    await connection.end();
  }
}

/** Those who wait for this lock hold up all uploads, so it is waited for in short turns. */
async function lockSessions(run: (statement: string) => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await run('begin');
      await run(`set local lock_timeout = '5s'`);
      await run('lock table sessions in share mode');
      return;
    } catch (error) {
      await run('rollback');
      if ((error as { code?: string }).code !== '55P03' || attempt === 12) throw error;
    }
  }
}

async function copyFolder(root: string, below: string, copy: Copy): Promise<void> {
  for (const entry of await readdir(join(root, below), { withFileTypes: true })) {
    const name = join(below, entry.name);
    if (emptied.test(name) || leftOut.test(name) || name === 'global/pg_control') continue;
    if (entry.isDirectory()) {
      await copy.folder(name);
      await copyFolder(root, name, copy);
    } else await copy.file(name, join(root, name));
  }
}

/** The log from the segment with which recovery begins to the one with which the backup ends. */
async function copyLog(data: string, first: string, last: string, copy: Copy): Promise<void> {
  const names = await readdir(join(data, 'pg_wal'));
  const segments = names.filter((name) => /^[0-9A-F]{24}$/.test(name) && name >= first && name <= last).sort();
  if (segments[0] !== first || segments.at(-1) !== last)
    throw new Error(`PostgreSQL did not keep its log from ${first}`);
  const histories = names.filter((name) => /^[0-9A-F]{8}\.history$/.test(name));
  for (const name of [...histories, ...segments]) await copy.file(`pg_wal/${name}`, join(data, 'pg_wal', name));
}

/** A file that is written as a whole now and then: read until it is the same twice, so that no half of it is new. */
async function readSteadily(path: string): Promise<Buffer> {
  let before = await readFile(path);
  for (;;) {
    const now = await readFile(path);
    if (now.equals(before)) return now;
    before = now;
  }
}
