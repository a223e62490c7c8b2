import type { Foundation } from '../context.ts';
import type { Recognizer } from '../recognizers/recognizer.ts';
import type { WorkFolder } from '../files/work-folder.ts';

export interface WorkerContext extends Foundation {
  recognizer: Recognizer;
  workFolder: WorkFolder;
  /** Aborts when the process is asked to stop: attempts are handed back. */
  stopping: AbortSignal;
}
