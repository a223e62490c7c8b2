/** `store adopt`: what an operator says when the database and its audio were brought together anew. */
import { inTransaction } from '../../db/connection/transaction.ts';
import { adoptStore } from '../../src/files/known-store.ts';
import { addCommand, addGroup } from './command.ts';
import type { Command } from 'commander';
import type { AdminContext } from './admin-context.ts';
import type { Answer, Report } from './command.ts';

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
