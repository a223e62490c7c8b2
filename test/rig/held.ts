/** What a worker is doing now, whichever recognizer it has. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { descendantsOf } from './processes.ts';
import { filesBelow } from './object-store.ts';
import type { Db } from '../../db/connection/database.ts';
import type { Machine } from './machine.ts';

export interface Held {
  id: string;
  attempt: number;
}

/** What a worker's files have of running attempts: `work/<account>.<session>.<attempt>`. Others may be left of a crash. */
export async function heldBy(db: Db, dataDir: string): Promise<(Held & { file: string })[]> {
  const files = new Set(await filesBelow(join(dataDir, 'work')));
  const query = db.selectFrom('sessions').select(['account_id', 'id', 'attempt']).where('status', '=', 'processing');
  const fileOf = (account: string, id: string, attempt: number) => join(dataDir, 'work', `${account}.${id}.${attempt}`);
  return (await query.execute())
    .map(({ account_id: account, id, attempt }) => ({ id, attempt, file: fileOf(account, id, attempt) }))
    .filter(({ file }) => files.has(file));
}

/** Whether something is decoded there, and not stored yet. */
export async function isRecognizing(db: Db, { pid }: Machine, dataDir: string): Promise<boolean> {
  if (descendantsOf(pid).some(({ name }) => name === 'ffmpeg')) return false;
  const sizes = (await heldBy(db, dataDir)).map(({ file }) => stat(file).then(({ size }) => size, () => 0)); // prettier-ignore
  return (await Promise.all(sizes)).some((size) => size > 0);
}
