/** Once a minute: finds what a crash or a jump of the clock left behind. Any number of workers may sweep at once; every step is guarded. */
import { deleteExpiredIdempotencyRecords } from '../../db/sessions/idempotency.ts';
import { mendStampsOfTheFuture } from '../../db/queue-tables.ts';
import { acquireLease } from '../../db/leases.ts';
import { transcriptionQueue } from '../queue/queue.ts';
import { removeAudioOfFinalSessions } from './audio-removal.ts';
import { everyMinute } from './every-minute.ts';
import { removeUnneededAudio, removeWorkOfEndedAttempts } from './orphans.ts';
import { rescueSessions } from './rescue.ts';
import { OrphanCandidates } from './orphan-candidates.ts';
import type { Sweeper, WorkerContext } from './worker-context.ts';

/** Many machines may share one store, which may be large. */
const listAudioEverySeconds = 60 * 60;

type Step = (worker: Sweeper, candidates: OrphanCandidates, steadyNow: number) => Promise<void>;

/** What one worker does for all. */
const forAll: readonly Step[] = [mendQueue, rescueSessions, removeAudioOfFinalSessions, forgetExpiredIdempotencyKeys];
/** What each does for itself: its own disk, and the audio that it found to be superfluous. */
const forItself: readonly Step[] = [removeUnneededAudio, removeWorkOfEndedAttempts];

/** Sweeps at once and then every minute, until the worker stops. */
export async function keepSweeping(worker: WorkerContext): Promise<void> {
  const candidates = new OrphanCandidates();
  const mayListAudio = () => acquireLease(worker.db, 'list audio', listAudioEverySeconds);
  await everyMinute(worker, 'sweep', (isOurTurn, isFirst) =>
    sweep({ ...worker, mayListAudio }, candidates, performance.now(), isOurTurn || isFirst ? undefined : forItself),
  );
}

/**
 * Does every step, whether or not another one fails.
 * @param candidates what earlier sweeps saw
 * @param steadyNow ms, as of `performance.now()`
 */
export async function sweep(
  worker: Sweeper,
  candidates = new OrphanCandidates(),
  steadyNow = performance.now(),
  steps: readonly Step[] = [...forAll, ...forItself],
): Promise<void> {
  for (const step of steps) {
    if (worker.stopping.aborted) return;
    await step(worker, candidates, steadyNow).catch((error: unknown) =>
      worker.log.warn({ err: error, step: step.name }, 'sweep failed'),
    );
  }
}

async function mendQueue({ db, log }: Sweeper): Promise<void> {
  const jobs = await mendStampsOfTheFuture(db, transcriptionQueue);
  if (jobs > 0) log.warn({ jobs }, "the database's clock was set back: jobs that waited for the future may begin");
}

async function forgetExpiredIdempotencyKeys({ db }: Sweeper): Promise<void> {
  await deleteExpiredIdempotencyRecords(db);
}
