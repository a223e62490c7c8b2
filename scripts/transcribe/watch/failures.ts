/** What to do when a recording does not become a transcript. */
import { readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { onOneLine } from '../../terminal/one-line.ts';
import { Refusal } from '../../terminal/refusal.ts';
import { Problem, RecordingChanged, SessionFailed, Unfinished, Unreachable } from '../refusals.ts';
import { fullName, writeResult } from '../results.ts';

/** `gone`: it has changed or is not there any more, and is looked at anew. */
export type Verdict = 'gone' | 'again' | 'failed' | 'bug';

/** Statuses that say nothing of the recording: key, balance, plan, slowness, allowance. */
const ofTheAccount = [401, 402, 403, 408, 429];
const goneCodes = ['ENOENT', 'ELOOP', 'ENOTDIR'];

export function verdictOn(error: unknown): Verdict {
  const cause = error instanceof Unfinished ? error.cause : error;
  if (cause instanceof RecordingChanged) return 'gone';
  if (cause instanceof Unreachable) return 'again';
  if (cause instanceof SessionFailed) return 'failed';
  if (cause instanceof Problem) {
    const { status, code } = cause;
    return status >= 500 || ofTheAccount.includes(status) || code === 'upload_incomplete' ? 'again' : 'failed';
  }
  if (cause instanceof Refusal) return 'again';
  const { code, syscall } = cause as NodeJS.ErrnoException;
  if (syscall === undefined) return 'bug';
  return syscall === 'open' && goneCodes.includes(code ?? '') ? 'gone' : 'again';
}

/** Where the reason is written why a recording has no transcript, below the folder of results. */
export const noticeName = (recording: string): string => fullName(recording, '.failed.txt');

/** What is there under this name already stays, unless it is an earlier notice. */
export async function writeNotice(out: string, recording: string, why: string): Promise<void> {
  const text = `${firstLineOf(recording)}

${why}

A better recording in its place is sent by itself. Delete this file to have the same recording sent again.
`;
  const path = join(out, noticeName(recording));
  await writeResult(path, text, { replace: await isNotice(path, recording) });
}

export async function removeNotice(out: string, recording: string): Promise<void> {
  const path = join(out, noticeName(recording));
  if (await isNotice(path, recording)) await rm(path, { force: true });
}

const firstLineOf = (recording: string) => `${onOneLine(basename(recording))} has no transcript.`;

/** Somebody may keep a file of that name. */
async function isNotice(path: string, recording: string): Promise<boolean> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return '';
  });
  return text.startsWith(`${firstLineOf(recording)}\n`);
}
