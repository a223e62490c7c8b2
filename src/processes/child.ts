/** One half of the service as the child of a master, which speaks for it to operators. */
import cluster from 'node:cluster';
import { startHalves } from '../halves.ts';
import { live, maxStopMs, settings } from '../lifetime.ts';
import { createLog } from '../log.ts';
import { answerQuestions, readyMessage, sendToMaster } from './questions.ts';
import type { Inspected } from '../halves.ts';

export type Half = 'api' | 'worker';

/** So that its last line in the log comes before the master gives it up. */
const stopLimitMs = maxStopMs - 1_000;

export async function runChild(half: Half): Promise<void> {
  if (cluster.worker === undefined) throw new Error('Only a master starts this file: type npm start.');
  // Otherwise Node.js would end this process at once when its master is killed.
  cluster.worker.exitedAfterDisconnect = true;
  const isOrphan = new Promise<string>((resolve) => process.once('disconnect', () => resolve('the master is gone')));
  const config = settings();
  const log = createLog(config);
  await live(log, {
    stopLimitMs,
    orWhen: isOrphan,
    async start() {
      const stop = await startHalves(config, log, { api: half === 'api', worker: half === 'worker' }, tellMaster);
      sendToMaster(readyMessage);
      return stop;
    },
  });
}

async function tellMaster({ readiness, registry }: Inspected): Promise<() => Promise<void>> {
  answerQuestions({ isAlive: async () => true, readiness, figures: () => registry.getMetricsAsJSON() });
  return async () => {};
}
