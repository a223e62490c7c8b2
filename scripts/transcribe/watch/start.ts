import { mkdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { tryLock } from '../../../db/embedded/file-lock.ts';
import { Refusal } from '../../terminal/refusal.ts';
import { problemOf } from '../problem.ts';
import { Journal } from './journal.ts';
import { watchFolder } from './watch.ts';
import type { ApiClient } from '../../terminal/api-client.ts';
import type { Progress } from '../../terminal/progress.ts';
import type { Wish } from '../program.ts';

/**
 * Watches until the signal aborts.
 * @throws {Refusal} when the folders can't be used, or the service refuses the key
 */
export async function startWatch(
  client: ApiClient,
  wish: Wish & { watch: string; out: string },
  screen: { progress: Progress; signal: AbortSignal },
): Promise<void> {
  const { watch, out, format, fields } = wish;
  const { say } = screen.progress;
  if (!(await stat(watch).catch(() => undefined))?.isDirectory()) throw new Refusal(`There is no folder ${watch}`);
  await mkdir(out, { recursive: true }).catch((error: Error) => {
    throw new Refusal(`${out} can't be used: ${error.message}`);
  });
  const lock = tryLock(join(out, '.transcribe.lock'), 'exclusive');
  if (lock === undefined) throw new Refusal(`Another command that watches writes to ${out} right now.`);
  try {
    const folder = await realpath(watch);
    const journal = await Journal.open(out, folder);
    await refuseWrongKey(client, screen.signal);
    say(`Watching ${watch}. Transcripts go to ${out}. Ctrl-C ends it.`);
    await watchFolder({ client, folder, out, format, fields, journal }, screen, wish);
    say('Stopped. What was accepted goes on, and the next start writes its transcript.');
  } finally {
    lock.release();
  }
}

/** A service that can't be reached now may come; a key that is refused now was typed wrong. */
async function refuseWrongKey(client: ApiClient, signal: AbortSignal): Promise<void> {
  const asked = client.GET('/sessions', { params: { query: { limit: 1 } }, signal });
  const answer = await asked.catch(() => undefined);
  if (answer?.error !== undefined && [401, 403].includes(answer.response.status))
    throw problemOf(answer.error, answer.response);
}
