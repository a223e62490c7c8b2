import { Option } from 'commander';
import { rfc3339 } from '../../db/connection/values.ts';
import { listSessions } from '../../db/sessions/pages.ts';
import { findAccountOfSession, findSessionRow } from '../../db/sessions/sessions.ts';
import { availableMs } from '../../src/sessions/balance.ts';
import { cancelSession, eraseSession, retrySession } from '../../src/sessions/support.ts';
import { toSessionError, toWarnings } from '../../src/sessions/view.ts';
import { Refusal } from '../terminal/refusal.ts';
import { details, minuteOf, momentOf, table } from '../terminal/table.ts';
import { getAccount } from './account-lookup.ts';
import { sessionId, wholeNumber } from './arguments.ts';
import { addAccountCommand, addCommand, addGroup } from './command.ts';
import { formatDuration } from './durations.ts';
import { audioLeft } from './exit.ts';
import { exportSessions } from './session-export.ts';
import type { Command } from 'commander';
import type { Queryable } from '../../db/connection/database.ts';
import type { SessionStatus, SupportAct } from '../../db/schema.ts';
import type { ReadableSession } from '../../db/sessions/readable.ts';
import type { Session } from '../../db/sessions/sessions.ts';
import type { Recorded, RetryOutcome } from '../../src/sessions/support.ts';
import type { AdminContext } from './admin-context.ts';
import type { Answer, Report } from './command.ts';

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
  const columns = [
    { head: 'Session' },
    { head: 'Status' },
    { head: 'Created (UTC)' },
    { head: 'Duration', align: 'right' },
    { head: 'Title', width: 16 },
  ] as const;
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

function listedSessionJson(accountId: string, session: ReadableSession) {
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
    freeAttempts: session.free_attempts,
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

function attemptsOf({ status, attempt, attempts_left, free_attempts, last_error_code }: Session): string {
  const left = status === 'queued' || status === 'processing' ? `, ${attempts_left} left` : '';
  const free = free_attempts === 0 ? '' : `, ${free_attempts} of them free`;
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
