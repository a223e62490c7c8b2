/** Files that a crash left behind. */
import { whichHaveAudio } from '../../db/sessions/audio.ts';
import { findSessionRow } from '../../db/sessions/sessions.ts';
import type { WorkerContext } from './context.ts';
import type { Moment, Suspects } from './suspects.ts';

const hourMs = 60 * 60 * 1000;

/** Audio that no row needs: of uploads whose transaction did not commit, and of sessions that were deleted. */
export async function removeUnneededAudio(
  { db, audioStore }: Pick<WorkerContext, 'db' | 'audioStore'>,
  suspects: Suspects,
  { now, steadyNow }: Moment,
): Promise<void> {
  for await (const { accountId, sessionIds } of audioStore.olderThan(now - hourMs)) {
    const needed = await whichHaveAudio(db, accountId, sessionIds);
    for (const id of sessionIds) {
      const isSuperfluous = !needed.has(id) && suspects.convicts(`${accountId}/${id}`, steadyNow);
      if (isSuperfluous) await audioStore.remove(accountId, id);
    }
  }
}

/** Decoded audio of attempts that are over, whichever worker made them. */
export async function removeWorkOfEndedAttempts({
  db,
  workFolder,
}: Pick<WorkerContext, 'db' | 'workFolder'>): Promise<void> {
  for (const attempt of await workFolder.list()) {
    const session = await findSessionRow(db, attempt.accountId, attempt.sessionId);
    const isRunning = session?.status === 'processing' && session.attempt === attempt.attempt;
    if (!isRunning) await workFolder.remove(attempt);
  }
}
