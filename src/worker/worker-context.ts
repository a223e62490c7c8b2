import type { Attempt } from '../../db/sessions/attempts.ts';
import type { AppContext } from '../sessions/app-context.ts';
import type { FairTurns } from '../concurrency/fair-turns.ts';
import type { Recognizer } from '../recognizers/recognizer.ts';
import type { WorkFolder } from '../files/work-folder.ts';
import type { DiskBudget } from './disk-budget.ts';
import type { Fault, WorkerPause } from './worker-pause.ts';

export interface WorkerContext extends AppContext {
  recognizer: Recognizer;
  workFolder: WorkFolder;
  diskBudget: DiskBudget;
  /** Decoding, which uses this machine's cores. Accounts take turns. */
  decoding: FairTurns;
  pause: WorkerPause;
  /** How far attempts are, in percent, that are not written yet. */
  progress: Map<Attempt, number>;
  /** Checks the dependencies that only the operator can fix. @param neededBytes room that has to be on the disk */
  checkDependencies: (neededBytes: number) => Promise<Fault | undefined>;
  /** Aborts when the process is asked to stop: attempts are handed back. */
  stopping: AbortSignal;
}
