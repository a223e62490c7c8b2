import { markAudioDeletedIfFinal } from '../../db/sessions/audio.ts';
import type { Foundation } from '../context.ts';

/**
 * Removes the audio of a final session. The row is marked first: a failed session may be put back to the queue at any
 * moment, and must find its audio then. A file that outlives a crash in between is found by the sweep.
 */
export async function removeAudio(
  { db, audioStore, log }: Foundation,
  accountId: string,
  sessionId: string,
): Promise<void> {
  try {
    if (await markAudioDeletedIfFinal(db, accountId, sessionId)) await audioStore.remove(accountId, sessionId);
  } catch (error) {
    log.warn({ err: error, sessionId }, 'audio not removed yet');
  }
}
