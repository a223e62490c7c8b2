/** Looks again and again at a folder, and has every new recording transcribed once it has stopped growing. */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pLimit from 'p-limit';
import { onOneLine } from '../../terminal/one-line.ts';
import { audioFilesIn } from '../audio-files.ts';
import { stateOf } from '../recording-file.ts';
import { isDone, transcribeDropped } from './dropped.ts';
import { verdictOn } from './failures.ts';
import { QuietFiles } from './quiet.ts';
import { Troubles } from './troubles.ts';
import type { Progress } from '../../terminal/progress.ts';
import type { FileState } from '../recording-file.ts';
import type { Watch } from './dropped.ts';

/**
 * How often the folder is looked at. Events of the kernel would not hasten anything, because a file has to be quiet for
 * longer than that, and network folders have none.
 */
const slowestLookMs = 1_000;
const fastestLookMs = 100;
const firstPauseMs = 2_000;
const longestPauseMs = 60_000;
/** A pause before the next request that is worth a line: the allowance is used up, or too many recordings are queued. */
const longPauseMs = 10_000;
const theService = 'the service';

/**
 * Returns once the signal aborts, when nothing goes on any more.
 * @param settleMs how long a file must not change before it is sent
 * @throws what must not happen, such as a fault of this program
 */
export async function watchFolder(
  folders: Omit<Watch, 'course'>,
  { progress, signal }: { progress: Progress; signal: AbortSignal },
  { settleMs, atOnce }: { settleMs: number; atOnce: number },
): Promise<void> {
  const pollIntervalMs = Math.max(fastestLookMs, Math.min(settleMs, slowestLookMs));
  const quiet = new QuietFiles(settleMs);
  const troubles = new Troubles(progress.say);
  const onPause = (why: string, ms: number) => {
    if (ms >= longPauseMs) troubles.tell(theService, `${why}\nIt goes on by itself.`);
  };
  const watch: Watch = { ...folders, course: { progress, signal, onPause } };
  const pauses = new Map<string, { ms: number; until: number }>();
  const going = new Map<string, Promise<void>>();
  const limit = pLimit(atOnce);
  const bug = Promise.withResolvers<never>();
  bug.promise.catch(() => {});

  async function attempt(path: string, state: FileState): Promise<void> {
    if (signal.aborted) return;
    try {
      await transcribeDropped(watch, path, state);
      pauses.delete(path);
      troubles.over(path);
      troubles.over(theService);
    } catch (error) {
      if (signal.aborted) return;
      const verdict = verdictOn(error);
      if (verdict === 'bug') throw error;
      if (verdict === 'gone') return;
      const trouble = withoutRequest((error as Error).message);
      troubles.tell(path, `${trouble}\nIt is tried again until it succeeds.`, 'It goes on.');
      const ms = Math.min(2 * (pauses.get(path)?.ms ?? firstPauseMs / 2), longestPauseMs);
      pauses.set(path, { ms, until: performance.now() + ms });
    }
  }

  async function consider(path: string, state: FileState): Promise<void> {
    if (going.has(path) || performance.now() < (pauses.get(path)?.until ?? 0)) return;
    if (await isDone(watch, path, state)) return troubles.over(path);
    if (!quiet.isQuiet(path, state, performance.now())) return;
    if (state.bytes === 0) return troubles.tell(path, `${onOneLine(path)} is empty: it is sent once it has grown`);
    const attempted = limit(() => attempt(path, state)).catch(bug.reject);
    going.set(
      path,
      attempted.finally(() => going.delete(path)),
    );
  }

  async function look(): Promise<void> {
    const { files, unread } = await audioFilesIn(watch.folder);
    for (const { path, why } of unread) troubles.tell(path, `${onOneLine(path)} is left out: ${why}`);
    quiet.keepOnly(new Set(files));
    for (const path of files) {
      const status = await lstat(join(watch.folder, path), { bigint: true }).catch(() => undefined);
      if (status === undefined && path.includes('\ufffd'))
        troubles.tell(path, `${onOneLine(path)} is left out: its name is not UTF-8`);
      if (status?.isFile()) await consider(path, stateOf(status));
    }
    troubles.over(watch.folder);
  }

  while (!signal.aborted) {
    await look().catch((error: NodeJS.ErrnoException) => {
      if (error.syscall === undefined) throw error;
      troubles.tell(watch.folder, `The folder can't be looked at: ${error.message}`, 'The folder is there again.');
    });
    await Promise.race([delay(pollIntervalMs, undefined, { signal }).catch(() => {}), bug.promise]);
  }
  await Promise.all(going.values());
}

/** The identifier of a request is another one each time. */
const withoutRequest = (message: string) => message.replace(/\nRequest \S+$/, '');
