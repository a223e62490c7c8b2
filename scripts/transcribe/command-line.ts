import { CommanderError } from 'commander';
import { findApiKey } from '../local-service/demo-key.ts';
import { TranscriptionClient } from '../client/index.ts';
import { Mistake } from '../terminal/refusal.ts';
import { quoted, shown } from '../terminal/text.ts';
import { showProgressOn } from '../terminal/show-progress.ts';
import { checkFields, flagOfOne } from './form-fields.ts';
import { extensionOf, render } from './formats.ts';
import { defaultUrl, invocation, readWish, whatItTakes } from './program.ts';
import { NotSent, Unfinished, explained } from './refusals.ts';
import { isThere } from './results.ts';
import { goOnWith, sayingPauses, transcribe } from './session.ts';
import { transcribeSeveral } from './several.ts';
import { findRecordings, targetsOf } from './targets.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { Wish } from './program.ts';
import type { Course } from './session.ts';
import type { Outcome } from './several.ts';
import type { Meant } from './targets.ts';

const exitCodes = { failed: 1, wrongUse: 2, interrupted: 130 };

interface Task {
  terminal: Terminal;
  wish: Wish;
  meant: Meant;
  client: TranscriptionClient;
  signal: AbortSignal;
}

/** @returns the exit code */
export async function transcribeCommand(terminal: Terminal): Promise<number> {
  try {
    return await work(readWish(terminal), terminal);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitCodes.wrongUse;
    if (!(error instanceof Mistake)) throw error;
    terminal.err.write(`${error.message}\n${whatItTakes}\n`);
    return exitCodes.wrongUse;
  }
}

async function work(wish: Wish, terminal: Terminal): Promise<number> {
  const { sources, fields, url, key } = wish;
  await checkFields(fields);
  const meant = await findRecordings(sources);
  const ofOne = flagOfOne(fields);
  if (ofOne !== undefined && meant.recordings.length > 1)
    throw new Mistake(`${ofOne} can be that of one recording only`);
  const apiKey = await findApiKey(key, url, terminal.env);
  if (apiKey === undefined)
    throw new Mistake('An API key is needed: set TRANSCRIPTION_API_KEY, or run ./scripts/quickstart');

  const client = new TranscriptionClient({ url, apiKey });
  const { interrupted: signal, stopListening } = terminal.listenForInterruption();
  try {
    return await run({ terminal, wish, meant, client, signal });
  } catch (error) {
    if (error instanceof Mistake) throw error;
    terminal.err.write(`${explanationOf(error as Error, wish, terminal)}\n`);
    return signal.aborted ? exitCodes.interrupted : exitCodes.failed;
  } finally {
    stopListening();
  }
}

async function run(task: Task): Promise<number> {
  const { wish, meant, client } = task;
  const { sources, session, out, fields } = wish;
  if (session !== undefined) return print(task, (course) => goOnWith(client, session, `session ${session}`, course));
  if (meant.isOneFile && out === undefined)
    return print(task, (course) => transcribe(client, sources[0]!, fields, course));
  return write(task);
}

async function print(
  { terminal, wish, client, signal }: Task,
  transcriptOf: (course: Course) => ReturnType<typeof transcribe>,
): Promise<number> {
  const progress = showProgressOn(terminal.err);
  const course = { progress, signal, words: wish.format === 'words', onPause: sayingPauses(progress) };
  const transcript = await transcriptOf(course);
  if (transcript.segments.length === 0) progress.say('Nothing was said in this recording; nothing was charged.');
  terminal.out.write(await render(client, transcript, wish.format, course));
  return 0;
}

async function write(task: Task): Promise<number> {
  const { terminal, wish, meant, client, signal } = task;
  const progress = showProgressOn(terminal.err, { keep: false });
  for (const { path, why } of meant.unread) progress.say(`${shown(path, wish.here)} is left out: ${why}`);
  if (meant.recordings.length === 0) throw new Mistake('There is no recording in there');
  const all = targetsOf(meant, wish.out, extensionOf(wish.format));
  const areThere = wish.force ? [] : await Promise.all(all.map(({ result }) => isThere(result)));
  for (const { file, result } of all.filter((_, index) => areThere[index]))
    progress.say(`${shown(file, wish.here)} is left out: ${shown(result, wish.here)} is there (--force replaces it)`);
  const targets = all.filter((_, index) => !areThere[index]);
  if (targets.length === 0) return 0;
  const course = { progress, signal, onPause: sayingPauses(progress) };
  return summarize(task, await transcribeSeveral(client, targets, wish, course));
}

function summarize({ terminal, wish, signal }: Task, outcomes: readonly Outcome[]): number {
  const say = (text: string) => terminal.err.write(`${text}\n`);
  const missing = outcomes.filter(({ failure }) => failure !== undefined);
  say(`${outcomes.length - missing.length} of ${outcomes.length} recordings are transcribed.`);
  for (const { file, failure } of missing) {
    // Those that had not begun when Ctrl-C was pressed are in the number above.
    if (signal.aborted && failure instanceof NotSent) continue;
    const explanation = explanationOf(failure!, wish, terminal);
    say(`\n${shown(file, wish.here)}:\n${explanation.replaceAll(/^/gm, '  ')}`);
  }
  if (signal.aborted) return exitCodes.interrupted;
  return missing.length > 0 ? exitCodes.failed : 0;
}

function explanationOf(error: Error, { url, format }: Wish, { env }: Terminal): string {
  if (!(error instanceof Unfinished)) return explained(error);
  const sameUrl = url === defaultUrl(env) ? '' : ` --url ${quoted(url)}`;
  const sameFormat = format === 'txt' ? '' : ` --format ${format}`;
  return [
    error.message,
    `Session ${error.sessionId} goes on. This prints its transcript later, and costs nothing again:`,
    `  ${invocation} --session ${error.sessionId}${sameFormat}${sameUrl}`,
  ].join('\n');
}
