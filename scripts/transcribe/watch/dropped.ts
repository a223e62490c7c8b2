/** The way of one recording that was dropped into the watched folder. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { onOneLine } from '../../terminal/one-line.ts';
import { render } from '../formats.ts';
import { isSameState, RecordingFile } from '../recording-file.ts';
import { Problem, Unfinished } from '../refusals.ts';
import { isThere } from '../results.ts';
import { goOnWith, sendAndAwait } from '../session.ts';
import { noticeName, removeNotice, verdictOn, writeNotice } from './failures.ts';
import { foundResult, place } from './placing.ts';
import type { Schema } from '../../../codegen/operations.ts';
import type { ApiClient } from '../../terminal/api-client.ts';
import type { Refusal } from '../../terminal/refusal.ts';
import type { FormFields } from '../form-fields.ts';
import type { Format } from '../formats.ts';
import type { FileState } from '../recording-file.ts';
import type { Course } from '../session.ts';
import type { Entry, Journal, Result } from './journal.ts';

export interface Watch {
  client: ApiClient;
  /** Where recordings are dropped, and where results go; absolute paths. */
  folder: string;
  out: string;
  format: Format;
  fields: FormFields;
  journal: Journal;
  course: Course & { signal: AbortSignal };
}

/** Whether there is nothing to do for a recording. */
export async function isDone({ journal, format, out }: Watch, path: string, state: FileState): Promise<boolean> {
  const entry = journal.get(path);
  return entry !== undefined && isSameState(entry, state) && (await isSettled(entry, format, out));
}

async function isSettled(entry: Entry, format: Format, out: string): Promise<boolean> {
  if (entry.results[format]?.of === entry.sha256) return true;
  return entry.failed === true && (await isThere(join(out, noticeName(entry.path))));
}

/**
 * Makes the transcript of a recording, unless it is there. It does nothing when the file is in another state by now. A
 * recording that can't be transcribed is noted down, and waits until it or its notice changes.
 * @throws what may pass; see `verdictOn`
 */
export async function transcribeDropped(watch: Watch, path: string, state: FileState): Promise<void> {
  const { folder, out, format, journal, course } = watch;
  const { say } = course.progress;
  await using recording = await RecordingFile.open(join(folder, path), 'refuse');
  if (!isSameState(recording.state, state)) return;
  const before = journal.get(path);
  const isKnown = before !== undefined && isSameState(before, state);
  const known = entryOf(journal, path, state, isKnown ? before.sha256 : await recording.sha256(course.signal));
  // It was copied anew or only touched.
  if (await isSettled(known, format, out)) return await journal.put(known);
  const found = await foundResult(out, known, format, journal);
  if (found !== undefined) {
    say(`${onOneLine(path)}: ${onOneLine(found.name)} is there already, and is left as it is`);
    return await journal.put(withResult(known, format, found));
  }
  const { failed: _, ...entry } = known;
  // From now on its bytes need not be read again to know them.
  if (!isKnown) await journal.put(entry);
  try {
    say(`${onOneLine(path)} → ${await writeTranscript(watch, recording, entry)}`);
  } catch (error) {
    if (verdictOn(error) !== 'failed') throw error;
    await keepFailure(watch, entry, (error as Refusal).message);
  }
}

/** @returns what is said of its file */
async function writeTranscript(watch: Watch, recording: RecordingFile, entry: Entry): Promise<string> {
  const { out, format, journal, course } = watch;
  const transcript = await transcriptOf(watch, recording, entry);
  const text = await render(watch.client, transcript, format, course);
  // One after the other, because two recordings may want one name.
  const result = await placing(() => place(out, text, entry, format, journal));
  await journal.put(withResult({ ...entry, sessionId: transcript.sessionId }, format, result));
  await removeNotice(out, entry.path);
  return `${onOneLine(result.name)}${transcript.segments.length === 0 ? ' (nothing was said, nothing was charged)' : ''}`;
}

const placing = pLimit(1);

async function keepFailure({ out, journal, course }: Watch, entry: Entry, why: string): Promise<void> {
  const { sessionId: _, ...withoutSession } = entry;
  await writeNotice(out, entry.path, why);
  await journal.put({ ...withoutSession, failures: entry.failures + 1, failed: true });
  course.progress.say(`${onOneLine(entry.path)}: ${why.split('\n')[0]} → ${onOneLine(noticeName(entry.path))}`);
}

function entryOf(journal: Journal, path: string, state: FileState, sha256: string): Entry {
  const before = journal.get(path);
  if (before?.sha256 === sha256) return { ...before, ...state };
  // A recording that was moved, or a copy of one, is not sent again: its session is there.
  const sessionId = journal.sessionOf(sha256);
  const results = before?.results ?? {};
  return { path, ...state, sha256, failures: 0, ...(sessionId !== undefined && { sessionId }), results };
}

const withResult = (entry: Entry, format: Format, result: Result): Entry => ({
  ...entry,
  results: { ...entry.results, [format]: result },
});

async function transcriptOf(
  { client, fields, format, journal, course }: Watch,
  recording: RecordingFile,
  entry: Entry,
): Promise<Schema<'Transcript'>> {
  const ours = { ...course, words: format === 'words' };
  if (entry.sessionId !== undefined) {
    const known = await goOnWith(client, entry.sessionId, entry.path, ours).catch(nothingIfGone);
    if (known !== undefined) return known;
  }
  const { sha256, failures } = entry;
  // The same at every start, so that what is sent again by a watch that was killed is neither queued nor charged again.
  const seed = JSON.stringify([sha256, fields, failures]);
  const idempotencyKey = `watch-${createHash('sha256').update(seed).digest('hex')}`;
  return sendAndAwait(client, { recording, fields, idempotencyKey, sha256 }, ours, (sessionId) =>
    journal.put({ ...entry, sessionId }),
  );
}

/** The session was deleted, for example because its retention is over: the recording is sent again. */
function nothingIfGone(error: unknown): undefined {
  const cause = error instanceof Unfinished ? error.cause : error;
  if (!(cause instanceof Problem && cause.status === 404)) throw error;
}
