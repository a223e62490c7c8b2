/** The service as a process: one role of it, or both. */
import { answerArguments, live, settings } from './lifetime.ts';
import { createLog } from '../ops/log.ts';
import type { Roles } from './roles.ts';

/** Runs until SIGTERM or SIGINT, and exits with 0 after an orderly stop, 1 after a fault, 2 on a wrong configuration or argument. */
export async function runService(roles: Roles): Promise<void> {
  answerArguments(process.argv.slice(2));
  const config = settings();
  const log = createLog(config);
  // What is wrong with the settings is said before everything else is loaded.
  await live(log, async () => (await import('./roles.ts')).startRoles(config, log, roles));
}
