/** The service: in one process, or a master and its children (`API_PROCESSES`). */
import { answerArguments, live, settings } from './lifetime.ts';
import { createLog } from './log.ts';
import { showOnPort } from './ops.ts';
import type { Halves, Inspected } from './halves.ts';
import type { Shown } from './ops.ts';

/** Runs until SIGTERM or SIGINT, and exits with 0 after an orderly stop, 1 after a fault, 2 on a wrong configuration or argument. */
export async function runService(halves: Halves): Promise<void> {
  answerArguments(process.argv.slice(2));
  const config = settings();
  const log = createLog(config);
  const isAlone = !halves.api || config.apiProcesses === 1;
  // A master needs neither half, and a process that is alone needs no master.
  const startAlone = async () =>
    (await import('./halves.ts')).startHalves(config, log, halves, (seen) => showOnPort(alone(seen), config, log));
  const startMaster = async () => (await import('./processes/master.ts')).startMaster(config, log, halves);
  await live(log, { start: isAlone ? startAlone : startMaster });
}

/** A process that answers at all is alive. */
const alone = ({ readiness, registry }: Inspected): Shown => ({
  whyNotAlive: async () => undefined,
  readiness,
  metrics: () => registry.metrics(),
});
