/** Looks for what only the operator can fix: at the database, the store, the disk, the memory, ffmpeg, the recognizer and its server. */
import { freemem } from 'node:os';
import { runChild } from '../children/child.ts';
import { whyNoDatabase } from '../../db/connection/explained-faults.ts';
import type { WorkerContext } from './worker-context.ts';
import type { Fault } from './worker-pause.ts';

/** With less free memory than this, the kernel is about to kill a process. */
const leastMemoryBytes = 64 * 1024 ** 2;
const programTimeLimitMs = 10_000;
/** As much as ffmpeg gets for a recording. */
const programLimits = { memoryBytes: 1024 ** 3, cpuSeconds: 10, fileBytes: 0, openFiles: 64 };

type Looked = Pick<WorkerContext, 'db' | 'audioStore' | 'recognizer' | 'diskBudget' | 'workFolder'>;

/**
 * @param neededBytes room that the disk of the work folder must have, besides what running jobs still need
 * @returns the first fault that is found; undefined when a job could run
 */
export async function findFault(worker: Looked, neededBytes: number): Promise<Fault | undefined> {
  const looks: [Fault['reason'], () => Promise<Fault | void>][] = [
    ['database', () => checkDatabase(worker)],
    ['store', () => worker.audioStore.checkReadable()],
    ['disk', () => checkDisk(worker, neededBytes)],
    ['memory', checkMemory],
    ['program', checkFfmpeg],
    ['server', async () => worker.recognizer.whyAway?.()],
    ['recognizer', () => worker.recognizer.check()],
  ];
  for (const [reason, look] of looks) {
    try {
      const fault = await look();
      if (fault !== undefined) return fault;
    } catch (error) {
      return { reason, message: error instanceof Error ? error.message : String(error) };
    }
  }
  return undefined;
}

async function checkDatabase({ db }: Looked): Promise<void> {
  const why = await whyNoDatabase(db);
  if (why !== undefined) throw new Error(why);
}

async function checkDisk({ diskBudget, workFolder }: Looked, neededBytes: number): Promise<void> {
  // The disk may be there for the first time since this process began.
  await workFolder.open();
  const missingBytes = neededBytes - (await diskBudget.leftBytes());
  if (missingBytes > 0) throw new Error(diskFullMessage(neededBytes, missingBytes));
  // A disk may have room and still refuse writes: a quota, or a read-only mount.
  await workFolder.checkWritable();
}

export const diskFullMessage = (neededBytes: number, missingBytes: number): string =>
  `the disk of DATA_DIR has no room for the next recording: it needs ${neededBytes} bytes, ${missingBytes} are missing`;

async function checkMemory(): Promise<void> {
  // The free memory of the machine, including what caches would give back. A control group counts caches as used, and a
  // worker would wait for ever.
  const bytes = freemem();
  if (bytes < leastMemoryBytes) throw new Error(`only ${bytes} bytes of memory are left`);
}

async function checkFfmpeg(): Promise<void> {
  const end = await runChild('ffmpeg', ['-version'], { limits: programLimits, timeLimitMs: programTimeLimitMs });
  if (end.how === 'exited' && end.code === 0) return;
  throw new Error(`ffmpeg does not run: ${end.how === 'exited' ? end.stderr.trim() : end.how}`);
}
