/** The role `worker`: takes jobs from the queue and runs them until it is asked to stop. */
import { runJob } from './attempt.ts';
import { findFault } from './faults.ts';
import { keepIndexing } from './backlog.ts';
import { DiskBudget } from './disk-budget.ts';
import { WorkerPause } from './worker-pause.ts';
import { keepSweeping, minuteMs, repeat } from './sweeps.ts';
import { shareLanguages } from '../../db/leases.ts';
import { reportProgressIfProcessing } from '../../db/sessions/attempts.ts';
import { FairTurns } from '../concurrency/fair-turns.ts';
import { AudioStoreUnavailable } from '../files/audio-store.ts';
import { WorkFolder } from '../files/work-folder.ts';
import type { WorkerSlots } from '../queue/job-consumer.ts';
import type { AppContext } from '../sessions/app-context.ts';
import type { Recognizer } from '../recognizers/recognizer.ts';
import type { WorkerContext } from './worker-context.ts';
import type { Fault } from './worker-pause.ts';

const reportEveryMs = 2_000;

export type Worker = Awaited<ReturnType<typeof startWorker>>;

/** @param recognizer one that has been checked */
export async function startWorker(context: AppContext, recognizer: Recognizer) {
  const workFolder = new WorkFolder(context.config.dataDir);

  const stopping = new AbortController();
  const worker = contextOf(context, recognizer, workFolder, stopping.signal);

  if (recognizer.load !== undefined) context.metrics.speechServer = () => recognizer.load!();
  recognizer.onBusy?.((away) => worker.pause.begin(away, 0));
  const fault = await openStorage(worker);
  const taking = worker.queue.work(workerSlots(worker), (job) => runJob(job, worker));
  const { readings } = worker.metrics;
  readings.slots = () => taking.use.places;
  readings.slotsInUse = () => taking.use.running;
  if (fault !== undefined) worker.pause.begin(fault, 0);
  const keeping = Promise.all([
    keepSweeping(worker),
    keepIndexing(worker),
    keepReporting(worker),
    repeat(worker, minuteMs, async () => shareLanguages(worker.db, await recognizer.languages?.())),
  ]);
  worker.log.info({ recognizer: recognizer.name, concurrency: worker.config.workerConcurrency }, 'worker takes jobs');

  return {
    /** For `/readyz`: what the worker waits for; undefined while it takes jobs. */
    notReadyReason() {
      const { fault } = worker.pause;
      return fault && `the worker takes no jobs until this has been put right: ${fault.message}`;
    },
    /** Takes no further job and hands back those that run. Resolves when they are handed back. */
    async stop() {
      const idle = taking.stop();
      stopping.abort();
      await Promise.all([idle, keeping, worker.pause.ended()]);
      await recognizer.close();
    },
  };
}

/** Writes how far the running jobs are: one statement for all of this process, every two seconds. */
const keepReporting = (worker: WorkerContext): Promise<void> =>
  repeat(worker, reportEveryMs, async () => {
    const news = new Map(worker.progress);
    worker.progress.clear();
    if (news.size > 0) await reportProgressIfProcessing(worker.db, news);
  });

/** The work folder lies on the disk of a store that keeps files, so it comes second. @returns why there is no store */
async function openStorage({ audioStore, workFolder }: WorkerContext): Promise<Fault | undefined> {
  try {
    await audioStore.open();
    await workFolder.open();
    return undefined;
  } catch (error) {
    if (error instanceof AudioStoreUnavailable) return { reason: 'store', message: error.message };
    throw error;
  }
}

/** What the worker shares besides the context. */
export function contextOf(
  context: AppContext,
  recognizer: Recognizer,
  workFolder: WorkFolder,
  stopping: AbortSignal,
): WorkerContext {
  const diskBudget = new DiskBudget(workFolder);
  const checkDependencies = (neededBytes: number) =>
    findFault({ ...context, recognizer, diskBudget, workFolder }, neededBytes);
  const pause = new WorkerPause(context, checkDependencies, stopping);
  // One account may hold all places while no other waits.
  const { workerConcurrency: cores } = context.config;
  const decoding = new FairTurns({ atOnce: cores });
  return {
    ...context,
    recognizer,
    workFolder,
    diskBudget,
    decoding,
    pause,
    progress: new Map(),
    checkDependencies,
    stopping,
  };
}

/** Four and a half hours of audio take as much. */
const roomEachBytes = 1024 ** 3;

/**
 * How many jobs this worker holds: none more while it waits for the operator, otherwise one for each core that they use. Where a server hears them, it holds as many as the
 * server needs, while the disk has room for each.
 */
export function workerSlots({
  config,
  recognizer,
  diskBudget,
  pause,
}: Pick<WorkerContext, 'config' | 'recognizer' | 'diskBudget' | 'pause'>): WorkerSlots {
  const { workerConcurrency: cores } = config;
  return async (running) => {
    if (pause.fault !== undefined) return 0;
    const useful = recognizer.jobsAtOnce?.() ?? 0;
    if (useful <= Math.max(cores, running)) return cores;
    const more = useful - running;
    // What is wrong with a disk that can't be asked, the next job finds out.
    const leftBytes = await diskBudget.leftBytes().catch(() => 0);
    return Math.max(cores, running + Math.min(more, Math.floor(leftBytes / roomEachBytes)));
  };
}
