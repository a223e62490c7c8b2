import { Option } from 'commander';
import { rfc3339 } from '../../db/connection/values.ts';
import { listSessions } from '../../db/sessions/pages.ts';
import { findAccountOfSession, findSessionRow } from '../../db/sessions/sessions.ts';
import { availableMs } from '../../db/accounts/accounts.ts';
import { cancelSession, eraseSession, retrySession } from '../../src/sessions/support.ts';
import { toSession, toSessionError, toWarnings } from '../../src/sessions/view.ts';
import { Refusal } from '../terminal/refusal.ts';
import { details, minuteOf, momentOf, right, table, count } from '../terminal/table.ts';
import { getAccount, refuseDeletedAccount } from './account-lookup.ts';
import { sessionId, wholeNumber } from './arguments.ts';
import { addAccountCommand, addCommand, addGroup } from './command.ts';
import { formatDuration } from './durations.ts';
import { audioLeft } from './exit.ts';
import { createWriteStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { Readable, Writable } from 'node:stream';
import { TextReader, ZipWriter } from '@zip.js/zip.js';
import { findChosenSegments } from '../../db/sessions/transcripts.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import { plainText } from '../../src/captions/formats.ts';
import { readAtOneMoment } from './admin-context.ts';
import { csvLine } from '../terminal/csv.ts';
import type { Command } from 'commander';
import type { Queryable, Trx } from '../../db/connection/database.ts';
import type { SessionStatus, SupportAct } from '../../db/schema.ts';
import type { PublicSession, Session } from '../../db/sessions/sessions.ts';
import type { Recorded, RetryOutcome } from '../../src/sessions/support.ts';
import type { AdminContext } from './admin-context.ts';
import type { Answer, Report } from './command.ts';
import type { Caption } from '../../src/captions/formats.ts';

const statuses: SessionStatus[] = ['queued', 'processing', 'completed', 'failed'];
const maxListed = 10_000;

export function addSessionCommands(program: Command, answer: Answer): void {
  const group = addGroup(program, 'sessions', 'List, show, export, retry, cancel and delete sessions.');

  const lists = 'List sessions of an account, newest first.';
  addAccountCommand(group, 'list', lists, 'list ACCOUNT', 'list ACCOUNT --status failed --limit 500')
    .addOption(new Option('--status <status>', 'only these').choices(statuses))
    .option('--limit <n>', `how many at most, up to ${maxListed}`, wholeNumber(1, maxListed), 100)
    .action(answer((admin, id: string, options: ListOptions) => list(admin, id, options)));

  const exports = 'Write all transcripts of an account to a zip, as JSON and as text, with a list of its sessions.';
  addAccountCommand(group, 'export', exports, 'export ACCOUNT --to acme.zip')
    .requiredOption('--to <file>', 'a file that is not there yet')
    .action(answer((admin, id: string, { to }: { to: string }) => exportSessions(admin, id, to)));

  const one = (name: string, describes: string, work: (admin: AdminContext, id: string) => Promise<Report>) =>
    addCommand(group, name, describes, `${name} SESSION`)
      .argument('<session>', 'id of the session', sessionId)
      .action(answer(work));
  one('show', 'Show a session, without its transcript.', (admin, id) => show(admin, id, ''));
  one('retry', 'Queue a failed session again, while its audio is still there.', retry);
  one('cancel', 'Fail a queued or processing session, uncharged.', cancel);
  one('delete', 'Erase a session: transcript, title, audio and job.', erase);
}

interface ListOptions {
  status?: SessionStatus;
  limit: number;
}

async function list({ db }: AdminContext, id: string, { status, limit }: ListOptions): Promise<Report> {
  await getAccount(db, id);
  const found = await listSessions(db, { accountId: id, statuses: status && [status], limit: limit + 1 });
  const sessions = found.slice(0, limit);
  const columns = ['Session', 'Status', 'Created (UTC)', right('Duration'), { head: 'Title', width: 16 }];
  const rows = sessions.map((session) => [
    ...[session.id, session.status, minuteOf(session.created_at)],
    ...[session.duration_ms === null ? '' : formatDuration(session.duration_ms), session.title],
  ]);
  return {
    json: sessions.map((session) => listedSessionJson(id, session)),
    text: table(columns, rows, `The account has no ${status === undefined ? '' : `${status} `}session.`),
    note: found.length > limit ? `There are more than these ${limit}: see --limit.` : undefined,
  };
}

/** @param sentence what has happened to the session */
async function show({ db }: AdminContext, id: string, sentence: string): Promise<Report> {
  const session = await getSession(db, id);
  return { json: sessionJson(session), text: `${sentence === '' ? '' : `${sentence}\n\n`}${sessionText(session)}` };
}

function listedSessionJson(accountId: string, session: PublicSession) {
  return {
    id: session.id,
    accountId,
    status: session.status,
    title: session.title,
    createdAt: rfc3339(session.created_at),
    ...(session.started_at !== null && { startedAt: rfc3339(session.started_at) }),
    ...(session.completed_at !== null && { completedAt: rfc3339(session.completed_at) }),
    ...(session.duration_ms !== null && { durationMs: session.duration_ms }),
    ...(session.language !== null && { language: session.language }),
    ...(session.progress !== null && { progress: session.progress }),
    ...(session.error_code !== null && { errorCode: session.error_code }),
  };
}

function sessionJson(session: Session) {
  return {
    ...listedSessionJson(session.account_id, session),
    jobId: session.job_id,
    reservedMs: session.reserved_ms,
    attempt: session.attempt,
    attemptsLeft: session.attempts_left,
    freeAttempts: session.infrastructure_retries,
    ...(session.last_error_code !== null && { lastErrorCode: session.last_error_code }),
    ...(session.warnings !== null && { warnings: toWarnings(session) }),
    ...(session.audio_deleted_at !== null && { audioDeletedAt: rfc3339(session.audio_deleted_at) }),
  };
}

function sessionText(session: Session): string {
  const error = toSessionError(session);
  return details({
    Session: session.id,
    Account: session.account_id,
    Title: session.title,
    Status: session.status,
    Error: error && `${error.code}: ${error.message}`,
    Progress: session.progress === null ? undefined : `${session.progress} %`,
    Duration: session.duration_ms === null ? 'not measured' : formatDuration(session.duration_ms),
    Reserved: formatDuration(session.reserved_ms),
    Language: session.language ?? undefined,
    Warnings: toWarnings(session)
      ?.map(({ code }) => code)
      .filter(isFirst)
      .join(', '),
    Attempts: attemptsOf(session),
    Audio: momentOf(session.audio_deleted_at)?.replace(/^/, 'removed ') ?? 'kept',
    Created: momentOf(session.created_at),
    Started: momentOf(session.started_at),
    Ended: momentOf(session.completed_at),
  });
}

const isFirst = <T>(item: T, index: number, list: readonly T[]): boolean => list.indexOf(item) === index;

function attemptsOf({ status, attempt, attempts_left, infrastructure_retries, last_error_code }: Session): string {
  const left = status === 'queued' || status === 'processing' ? `, ${attempts_left} left` : '';
  const free = infrastructure_retries === 0 ? '' : `, ${infrastructure_retries} of them free`;
  return `${attempt}${free}${left}${last_error_code === null ? '' : ` (the last one: ${last_error_code})`}`;
}

/** @throws {Refusal} when there is none */
async function getSession(db: Queryable, id: string): Promise<Session> {
  const accountId = await findAccountOfSession(db, id);
  const session = accountId === undefined ? undefined : await findSessionRow(db, accountId, id);
  if (session === undefined) throw new Refusal(unknown(id));
  return session;
}

/** What a change of a session is given: with its queue and its account, and logged. @throws {Refusal} when it is unknown */
async function changing(admin: AdminContext, act: SupportAct, id: string) {
  const accountId = await findAccountOfSession(admin.db, id);
  if (accountId === undefined) throw new Refusal(unknown(id));
  const recorded: Recorded = (trx) => admin.record(trx, { act, accountId, details: { sessionId: id } });
  return [{ ...admin, queue: await admin.queue() }, accountId, id, recorded] as const;
}

/** @throws {Refusal} when the session is final or unknown */
async function cancel(admin: AdminContext, id: string): Promise<Report> {
  const outcome = await cancelSession(...(await changing(admin, 'sessions cancel', id)));
  if (outcome.kind === 'unknown') throw new Refusal(unknown(id));
  if (outcome.kind === 'final')
    throw new Refusal(`Session ${id} is ${outcome.status} already: only queued and processing ones can be canceled.`);
  return show(admin, id, 'The session is canceled and charges nothing.');
}

/** @throws {Refusal} when the session is not failed or its account may not upload its audio now */
async function retry(admin: AdminContext, id: string): Promise<Report> {
  const outcome = await retrySession(...(await changing(admin, 'sessions retry', id)));
  if (outcome.kind !== 'queued') throw new Refusal(whyNotRetried(id, outcome));
  return show(admin, id, 'The session is queued again.');
}

function whyNotRetried(id: string, outcome: Exclude<RetryOutcome, { kind: 'queued' }>): string {
  switch (outcome.kind) {
    case 'unknown':
      return unknown(id);
    case 'not_failed':
      return `Session ${id} is ${outcome.status}: only failed ones can be retried.`;
    case 'without_audio':
      return `The audio of session ${id} is not there any more: the file has to be uploaded again.`;
    case 'not_eligible':
      return `Its account ${outcome.account.id} is on the plan ${outcome.account.plan}, which may not transcribe: see accounts set-plan.`;
    case 'suspended':
      return `Its account ${outcome.account.id} is suspended: see accounts resume.`;
    case 'too_long': {
      const [longest, length] = [outcome.account.max_audio_ms, outcome.durationMs ?? 0].map(formatDuration);
      return `The audio is ${length} long, its account ${outcome.account.id} may have ${longest}: see accounts set-limits --max-audio.`;
    }
    case 'not_covered': {
      const needed = outcome.durationMs === null ? '' : `, the audio needs ${formatDuration(outcome.durationMs)}`;
      const available = formatDuration(availableMs(outcome.account));
      return `Its account ${outcome.account.id} has ${available} available${needed}: see balance credit.`;
    }
  }
}

/** @throws {Refusal} when the session is unknown, or its audio could not be removed */
async function erase(admin: AdminContext, id: string): Promise<Report> {
  const [context, accountId, , recorded] = await changing(admin, 'sessions delete', id);
  const outcome = await eraseSession(context, accountId, id, recorded);
  if (outcome.kind === 'unknown') throw new Refusal(unknown(id));
  if (outcome.kind === 'audio_left') throw audioLeft(outcome.error);
  return {
    json: { id, accountId, deleted: true },
    text: `Session ${id} is erased, with its transcript and audio.`,
  };
}

const unknown = (id: string) => `There is no session ${id}. "sessions list ACCOUNT" shows those of an account.`;

/**
 * Writes `sessions.csv` and, of each completed session, `transcripts/ID.json` and `transcripts/ID.txt`: all of one moment.
 *
 * @throws {Refusal} when the account is unknown or deleted, or the file is there already
 */
async function exportSessions(admin: AdminContext, id: string, file: string): Promise<Report> {
  if ((await getAccount(admin.db, id)).deleted_at !== null) refuseDeletedAccount(id);
  const output = await newFile(file);
  try {
    // Before anything is read: an export that is broken off has been one, too.
    await inTransaction(admin.db, (trx) => admin.record(trx, { act: 'sessions export', accountId: id }));
    const zip = new ZipWriter(Writable.toWeb(output), { useWebWorkers: false });
    const exported = await readAtOneMoment(admin, (snapshot) => addSessions(zip, snapshot, id));
    await zip.close();
    const { size } = await stat(file);
    return {
      json: { id, file, bytes: size, ...exported },
      text: `${file}: ${count(exported.sessions, 'session')}, ${count(exported.transcripts, 'transcript')}, ${size} bytes.`,
    };
  } catch (error) {
    output.destroy();
    await rm(file, { force: true });
    throw error;
  }
}

/** Only for its owner to read: it holds what a customer has said. */
async function newFile(file: string): Promise<Writable> {
  const output = createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true });
  const opened = Promise.withResolvers<void>();
  output.once('open', () => opened.resolve()).once('error', opened.reject);
  await opened.promise.catch((error: NodeJS.ErrnoException) => {
    throw new Refusal(`${file} can not be made (${error.code}): choose a new name in a folder that you may write to.`);
  });
  return output;
}

async function addSessions(
  zip: ZipWriter<unknown>,
  snapshot: Trx,
  accountId: string,
): Promise<{ sessions: number; transcripts: number }> {
  let transcripts = 0;
  for await (const session of sessionsOf(snapshot, accountId)) {
    if (session.status !== 'completed') continue;
    const segments = (await findChosenSegments(snapshot, accountId, session.id, { withWords: true }))!;
    const lastModDate = new Date(rfc3339(session.created_at));
    const head = JSON.stringify({ session: toSession(session) });
    const name = `transcripts/${session.id}`;
    await zip.add(`${name}.json`, new TextReader(`${head.slice(0, -1)},"segments":${segments}}\n`), { lastModDate });
    const text = [...plainText(JSON.parse(segments) as Caption[])].join('');
    await zip.add(`${name}.txt`, new TextReader(text), { lastModDate });
    transcripts += 1;
  }
  let sessions = -1;
  const counted = (async function* () {
    for await (const line of indexOf(snapshot, accountId)) {
      sessions += 1;
      yield Buffer.from(line);
    }
  })();
  await zip.add('sessions.csv', Readable.toWeb(Readable.from(counted)) as ReadableStream<Uint8Array>);
  return { sessions, transcripts };
}

async function* indexOf(snapshot: Trx, accountId: string): AsyncGenerator<string> {
  const columns = ['session', 'status', 'created_at', 'title', 'reference', 'language', 'duration_ms', 'charged_ms'];
  yield csvLine(columns);
  for await (const session of sessionsOf(snapshot, accountId)) {
    const { id, status, created_at, title, reference, language, duration_ms, charged_ms } = session;
    yield csvLine([id, status, rfc3339(created_at), title, reference, language, duration_ms, charged_ms]);
  }
}

const atATime = 100;

async function* sessionsOf(snapshot: Trx, accountId: string): AsyncGenerator<PublicSession> {
  let last: PublicSession | undefined;
  do {
    const after = last && { createdAt: rfc3339(last.created_at), id: last.id };
    const page = await listSessions(snapshot, { accountId, limit: atATime, after });
    yield* page;
    last = page.length < atATime ? undefined : page.at(-1);
  } while (last !== undefined);
}
