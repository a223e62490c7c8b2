import { accessSync, closeSync, constants, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';

/** A lock on a file. The kernel takes it back when the process dies, however it dies. */
export interface FileLock {
  /** May be called twice. */
  release(): void;
}

export type LockKind = 'shared' | 'exclusive';

// In Node, only SQLite takes locks of the kernel on files. Nothing is ever written: the files stay empty, and no
// journal appears.
const takeLock: Record<LockKind, string> = {
  shared: 'BEGIN; SELECT * FROM sqlite_master',
  exclusive: 'BEGIN EXCLUSIVE',
};
const sqliteBusy = 5;

// Without this reference, the garbage collector would close the file and so release the lock.
const held = new Set<DatabaseSync>();

/**
 * Takes the lock at once, or returns undefined where another holder, in this process or another, stands in the way.
 * @throws when the file can't be opened for writing, for instance because it belongs to another user
 */
export function tryLock(file: string, kind: LockKind): FileLock | undefined {
  let database: DatabaseSync | undefined;
  try {
    createPrivate(file);
    database = new DatabaseSync(file);
    // On a file that may only be read, SQLite takes a shared lock instead of an exclusive one and does not say so.
    accessSync(file, constants.W_OK);
    database.exec(takeLock[kind]);
  } catch (cause) {
    database?.close();
    if ((cause as { errcode?: number }).errcode === sqliteBusy) return undefined;
    throw new Error(`cannot lock ${file}: ${(cause as Error).message} (does it belong to another user?)`, { cause });
  }
  const holding = database;
  held.add(holding);
  return {
    release() {
      if (held.delete(holding)) holding.close();
    },
  };
}

/** SQLite would create the file with the umask's mode, and every reader can lock it. */
function createPrivate(file: string): void {
  try {
    // Only when there is no file: to open and close it would release every lock that this process has on it.
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/**
 * Waits for the lock.
 * @param limitMs how long to wait, ms
 * @throws when the lock isn't free within the limit
 */
export async function waitForLock(file: string, kind: LockKind, limitMs: number): Promise<FileLock> {
  const lock = await until(() => tryLock(file, kind), limitMs);
  if (lock === undefined) throw new Error(`${file} was locked by another process for ${limitMs / 1000} s`);
  return lock;
}

/**
 * Asks again and again until there is an answer.
 * @param ask returns undefined (or false) as long as there is none
 * @param limitMs ms
 * @returns the answer, or undefined when there was none within the limit
 */
export async function until<Answer>(
  ask: () => Answer | undefined | false | Promise<Answer | undefined | false>,
  limitMs: number,
): Promise<Answer | undefined> {
  const end = performance.now() + limitMs;
  for (let waitMs = 5; ; waitMs = Math.min(waitMs * 1.5, 100)) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() >= end) return undefined;
    await pause(waitMs);
  }
}
