/** `npm run transcribe -- FILE…`: recordings become transcripts. Only transcripts go to stdout; all else goes to stderr. */
import { findApiKey } from '../local-service/demo-key-file.ts';
import { createApiClient } from '../terminal/api-client.ts';
import { listenForInterruption } from '../terminal/interruption.ts';
import { showProgressOn } from '../terminal/show-progress.ts';
import { quoted } from '../terminal/quoted.ts';
import { Refusal } from '../terminal/refusal.ts';
import { checkFields, flagOfOne } from './form-fields.ts';
import { extensionOf, render } from './formats.ts';
import { defaultUrl, invocation, readWish, refuse } from './program.ts';
import { NotSent, Unfinished } from './refusals.ts';
import { goOnWith, sayingPauses, transcribe } from './session.ts';
import { shown, transcribeSeveral } from './several.ts';
import { findRecordings, targetsOf } from './targets.ts';
import { startWatch } from './watch/start.ts';
import type { Course } from './session.ts';
import type { Outcome } from './several.ts';
import type { Meant } from './targets.ts';

const exitCodes = { failed: 1, interrupted: 130 };
const wish = readWish();
const { sources, session, watch, out, format, fields, url } = wish;
const words = format === 'words';

/** What was typed wrong ends the process with exit code 2. */
const asTyped = <T>(work: Promise<T>) =>
  work.catch((error) => refuse(error instanceof Refusal ? error.message : error));

await asTyped(checkFields(fields));
const meant = await asTyped(findRecordings(sources));
const ofOne = flagOfOne(fields);
if (ofOne !== undefined && meant.recordings.length > 1) refuse(`${ofOne} can be that of one recording only`);
const apiKey = await findApiKey(wish.key, url);
if (apiKey === undefined) refuse('An API key is needed: set TRANSCRIPTION_API_KEY, or run ./scripts/quickstart');

const client = createApiClient(url, apiKey);
const { interrupted: signal, stopListening } = listenForInterruption();
try {
  await run();
} catch (error) {
  explain(error);
} finally {
  stopListening();
}

async function run(): Promise<void> {
  if (watch !== undefined) return watchUntilInterrupted(watch);
  if (session !== undefined) return print((course) => goOnWith(client, session, `session ${session}`, course));
  if (meant.isOneFile && out === undefined) return print((course) => transcribe(client, sources[0]!, fields, course));
  return write(meant);
}

async function print(work: (course: Course) => ReturnType<typeof transcribe>): Promise<void> {
  const progress = showProgressOn(process.stderr);
  const course = { progress, signal, words, onPause: sayingPauses(progress) };
  const transcript = await work(course);
  if (transcript.segments.length === 0) progress.say('Nothing was said in this recording; nothing was charged.');
  process.stdout.write(await render(client, transcript, format, course));
}

async function write(found: Meant): Promise<void> {
  const progress = showProgressOn(process.stderr, { keep: false });
  for (const { path, why } of found.unread) progress.say(`${shown(path)} is left out: ${why}`);
  if (found.recordings.length === 0) refuse('There is no recording in there');
  const targets = await asTyped(Promise.resolve().then(() => targetsOf(found, out, extensionOf(format))));
  const course = { progress, signal, onPause: sayingPauses(progress) };
  const outcomes = await transcribeSeveral(client, targets, wish, course);
  summarize(outcomes);
}

async function watchUntilInterrupted(folder: string): Promise<void> {
  const progress = showProgressOn(process.stderr, { keep: false });
  await startWatch(client, { ...wish, watch: folder, out: out! }, { progress, signal });
}

function summarize(outcomes: readonly Outcome[]): void {
  const missing = outcomes.filter(({ failure }) => failure !== undefined);
  say(`${outcomes.length - missing.length} of ${outcomes.length} recordings are transcribed.`);
  if (signal.aborted) process.exitCode = exitCodes.interrupted;
  else if (missing.length > 0) process.exitCode = exitCodes.failed;
  for (const { file, failure } of missing) {
    // Those that had not begun when Ctrl-C was pressed are told by the number above.
    if (signal.aborted && failure instanceof NotSent) continue;
    say(`\n${shown(file)}:\n${explanationOf(failure!).replaceAll(/^/gm, '  ')}`);
  }
}

function explain(error: unknown): void {
  if (!(error instanceof Error)) throw error;
  say(explanationOf(error));
  process.exitCode = signal.aborted ? exitCodes.interrupted : exitCodes.failed;
}

function explanationOf(error: Error): string {
  if (!(error instanceof Unfinished)) return error instanceof Refusal ? error.message : (error.stack ?? error.message);
  const sameUrl = url === defaultUrl() ? '' : ` --url ${quoted(url)}`;
  const sameFormat = format === 'txt' ? '' : ` --format ${format}`;
  return [
    error.message,
    `Session ${error.sessionId} goes on. This prints its transcript later, and costs nothing again:`,
    `  ${invocation} --session ${error.sessionId}${sameFormat}${sameUrl}`,
  ].join('\n');
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
