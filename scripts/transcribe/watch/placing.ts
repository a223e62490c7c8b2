/** The names of results. One that is somebody else's, or was edited by hand, is never replaced. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { extensionOf } from '../formats.ts';
import { besideName, fullName, isThere, removePart, writeResult } from '../results.ts';
import type { Format } from '../formats.ts';
import type { Entry, Journal, Result } from './journal.ts';

/** A result that somebody put there before the recording was ever seen, such as a command without `--watch`. */
export async function foundResult(
  out: string,
  entry: Entry,
  format: Format,
  journal: Journal,
): Promise<Result | undefined> {
  if (journal.get(entry.path) !== undefined) return undefined;
  const name = besideName(entry.path, extensionOf(format));
  const isOurs = [...journal.all()].some((other) => claims(other, name) || mayHaveWritten(other, name, format));
  return !isOurs && (await isThere(join(out, name))) ? { name, of: entry.sha256 } : undefined;
}

/**
 * Writes a transcript: `talk.txt`, or `talk.wav.txt` and `talk.wav (2).txt` where the name before is taken. What was
 * written for an earlier recording of the same name is replaced, unless it was edited since.
 */
export async function place(
  out: string,
  text: string,
  entry: Entry,
  format: Format,
  journal: Journal,
): Promise<Result> {
  const sha256 = digest(text);
  const before = entry.results[format];
  const others = [...journal.all()].filter(({ path }) => path !== entry.path);
  for (const name of names(entry.path, extensionOf(format))) {
    if (others.some((other) => claims(other, name))) continue;
    const path = join(out, name);
    const there = await digestOf(path);
    const isOlderOne = before?.name === name && before.sha256 === there;
    const result: Result = { name, of: entry.sha256, sha256 };
    // The same text is what a killed watch wrote and could not note down.
    if (there === sha256) {
      await removePart(path);
      return result;
    }
    if (there !== undefined && !isOlderOne) continue;
    if (await writeResult(path, text, { replace: isOlderOne && there !== undefined })) return result;
  }
  throw new Error(`There is no name left for the transcript of ${entry.path}`);
}

function* names(recording: string, extension: string): Generator<string> {
  yield besideName(recording, extension);
  yield fullName(recording, extension);
  for (let number = 2; number < 1_000; number += 1) yield fullName(recording, ` (${number})${extension}`);
}

const claims = (entry: Entry, name: string) => Object.values(entry.results).some((result) => result.name === name);

/** Whether a watch that was killed may have written it, and had no time to note that down. */
function mayHaveWritten({ path, sessionId, results, sha256 }: Entry, name: string, format: Format): boolean {
  const isPending = sessionId !== undefined && results[format]?.of !== sha256;
  return isPending && besideName(path, extensionOf(format)) === name;
}

const digest = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');

/** Undefined for what is not there. */
async function digestOf(path: string): Promise<string | undefined> {
  try {
    return digest(await readFile(path));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    if (code === 'EISDIR') return 'a folder';
    throw error;
  }
}
