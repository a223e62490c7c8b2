/** The working half: takes jobs from the queue and runs them until it is asked to stop. */
import { runAttempt } from './worker/attempt.ts';
import { giveUp } from './worker/failed-attempt.ts';
import { keepSweeping } from './worker/sweeps.ts';
import { WorkFolder } from './worker/work-folder.ts';
import type { Foundation } from './context.ts';
import type { Recognizer } from './recognizers/recognizer.ts';
import type { WorkerContext } from './worker/context.ts';

export interface Worker {
  /** Takes no further job, hands back those that run, and waits for that. */
  stop(): Promise<void>;
}

/** @throws {RecognizerError} that says what to install when the recognizer can not run here */
export async function startWorker(foundation: Foundation, recognizer: Recognizer): Promise<Worker> {
  await recognizer.check();
  const workFolder = new WorkFolder(foundation.config.dataDir);
  await workFolder.open();

  const stopping = new AbortController();
  const worker: WorkerContext = { ...foundation, recognizer, workFolder, stopping: stopping.signal };
  const running = new Set<Promise<void>>();
  const track = async (work: Promise<void>) => {
    const settled = work.catch(() => {});
    running.add(settled);
    try {
      await work;
    } finally {
      running.delete(settled);
    }
  };

  await worker.queue.work(
    worker.config.workerConcurrency,
    (job) => track(runAttempt(job, worker)),
    (data) => track(giveUp(data, worker)),
  );
  const sweeping = keepSweeping(worker);
  worker.log.info({ recognizer: recognizer.name, concurrency: worker.config.workerConcurrency }, 'worker takes jobs');

  return {
    async stop() {
      await worker.queue.stopTaking();
      stopping.abort();
      await Promise.all([...running, sweeping]);
    },
  };
}
