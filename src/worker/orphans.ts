/** Files that a crash left behind. */
import { whichHaveAudio } from '../../db/sessions/removal.ts';
import { findSessionRow } from '../../db/sessions/sessions.ts';
import { byAccount, isId } from '../files/audio-store.ts';
import type { Sweeper, WorkerContext } from './worker-context.ts';

/** No upload takes so long from its stored audio to its row. */
const youngMs = 30 * 60 * 1000;
const atATime = 1_000;
/** How long audio has to look superfluous. */
const patienceMs = 10 * 60_000;
/** Those beyond it wait for the next list of the audio. */
const maxCandidates = 100_000;

/**
 * Audio that looked superfluous in a list of all audio, by its account and session: since when, in ms as of
 * `performance.now()`, the oldest first. A clock that jumps makes every file look old, also the file of an upload that is about to
 * commit. So a file is removed only if nobody needs it ten minutes later either, by a clock that never jumps. No upload is without
 * a new byte and without a row for so long.
 */
export type OrphanCandidates = Map<string, number>;

/**
 * Audio that no row needs: of uploads whose transaction did not commit, and of sessions that were deleted. Where the
 * audio is listed, what nobody needs becomes suspect. What is still needed by nobody ten minutes later is removed.
 */
export async function removeUnneededAudio(
  sweeper: Sweeper,
  candidates: OrphanCandidates,
  steadyNow: number,
): Promise<void> {
  const { db, audioStore, mayListAudio, log } = sweeper;
  if (await mayListAudio()) {
    await suspectUnneeded(sweeper, candidates, steadyNow);
    const later = (error: unknown) => log.warn({ err: error }, 'parts of abandoned uploads were not removed yet');
    await audioStore.endAbandonedPuts().catch(later);
  }
  for (const [name, since] of candidates) {
    if (steadyNow - since < patienceMs) break;
    const [accountId, sessionId] = name.split('/') as [string, string];
    const needed = await whichHaveAudio(db, accountId, [sessionId]);
    if (!needed.has(sessionId)) await removeIfPossible(accountId, sessionId, sweeper);
    candidates.delete(name);
  }
}

/**
 * One that can't be removed keeps no others: the next list of the audio finds it again.
 * @throws when the store itself is away
 */
async function removeIfPossible(accountId: string, sessionId: string, { audioStore, log }: Sweeper): Promise<void> {
  try {
    await audioStore.remove(accountId, sessionId);
  } catch (error) {
    await audioStore.checkReadable();
    log.warn({ err: error, accountId, sessionId }, 'audio that nobody needs was not removed yet');
  }
}

async function suspectUnneeded(
  { db, audioStore, log }: Sweeper,
  candidates: OrphanCandidates,
  steadyNow: number,
): Promise<void> {
  const onUnreadable = (error: unknown) => log.warn({ err: error }, 'the audio of an account can not be listed');
  for await (const { accountId, files } of byAccount(audioStore.list(onUnreadable), atATime)) {
    const old = files.filter(({ name, keptMs }) => isId(name) && keptMs > youngMs).map(({ name }) => name);
    if (old.length === 0) continue;
    const needed = await whichHaveAudio(db, accountId, old);
    for (const sessionId of old) {
      const name = `${accountId}/${sessionId}`;
      if (needed.has(sessionId) || candidates.has(name) || candidates.size >= maxCandidates) continue;
      candidates.set(name, steadyNow);
    }
  }
}

/** Decoded audio of attempts that are over, whichever worker made them. */
export async function removeWorkOfEndedAttempts({
  db,
  workFolder,
  log,
}: Pick<WorkerContext, 'db' | 'workFolder' | 'log'>): Promise<void> {
  for (const attempt of await workFolder.list()) {
    const session = await findSessionRow(db, attempt.accountId, attempt.sessionId);
    const isRunning = session?.status === 'processing' && session.attempt === attempt.attempt;
    if (isRunning) continue;
    await workFolder
      .remove(attempt)
      .catch((error: unknown) => log.warn({ err: error, ...attempt }, 'decoded audio was not removed yet'));
  }
}
