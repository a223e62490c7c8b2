/** The working half: takes jobs from the queue and runs them until it is asked to stop. */
import { runAttempt } from './attempt.ts';
import { rescue } from './rescue.ts';
import { keepSweeping } from './sweeps.ts';
import { WorkFolder } from '../files/work-folder.ts';
import type { Foundation } from '../context.ts';
import type { Recognizer } from '../recognizers/recognizer.ts';
import type { WorkerContext } from './context.ts';

export interface Worker {
  /** Takes no further job, hands back those that run, and waits for that. */
  stop(): Promise<void>;
}

/** @param recognizer one that has been checked */
export async function startWorker(foundation: Foundation, recognizer: Recognizer): Promise<Worker> {
  const workFolder = new WorkFolder(foundation.config.dataDir);
  await workFolder.open();

  const stopping = new AbortController();
  const worker: WorkerContext = { ...foundation, recognizer, workFolder, stopping: stopping.signal };

  await worker.queue.work(
    worker.config.workerConcurrency,
    (job) => runAttempt(job, worker),
    ({ accountId, sessionId, queueJobId }) => rescue(accountId, sessionId, queueJobId, worker),
  );
  const sweeping = keepSweeping(worker);
  worker.log.info({ recognizer: recognizer.name, concurrency: worker.config.workerConcurrency }, 'worker takes jobs');

  return {
    async stop() {
      const idle = worker.queue.stopTaking();
      stopping.abort();
      await Promise.all([idle, sweeping]);
      await recognizer.close();
    },
  };
}
