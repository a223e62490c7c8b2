import type { Db } from '../../../db/connection/database.ts';

/** The database forgets its audio store: the one of the next process that starts becomes its own. */
export async function expectNewStore(db: Db): Promise<void> {
  await db.deleteFrom('audio_store').execute();
}
