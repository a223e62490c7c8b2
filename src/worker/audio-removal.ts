import { findAudioToRemove, markAudioDeletedIfUnneeded } from '../../db/sessions/audio.ts';
import type { Foundation } from '../sessions/foundation.ts';

type Remover = Pick<Foundation, 'db' | 'audioStore' | 'log'>;

const atATime = 500;

/** Removes audio that is not needed any more. What cannot be removed now is tried again by the next sweep. */
export async function removeAudioOfFinalSessions(remover: Remover): Promise<void> {
  for (const { account_id, id } of await findAudioToRemove(remover.db, atATime))
    await removeAudio(remover, account_id, id);
}

/**
 * Removes the audio of a final session. The row is marked first, because a failed session may be put back to the queue
 * at any moment and needs its audio then. After a crash between both, the sweep removes the file.
 */
export async function removeAudio(
  { db, audioStore, log }: Remover,
  accountId: string,
  sessionId: string,
): Promise<void> {
  try {
    if (await markAudioDeletedIfUnneeded(db, accountId, sessionId)) await audioStore.remove(accountId, sessionId);
  } catch (error) {
    log.warn({ err: error, sessionId }, 'audio not removed yet');
  }
}
