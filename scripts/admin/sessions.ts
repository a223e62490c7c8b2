import { Option } from 'commander';
import { listSessions } from '../../db/sessions/pages.ts';
import { getAccount } from './account-lookup.ts';
import { accountId, sessionId, wholeNumber } from './arguments.ts';
import { addCommand, addGroup } from './command.ts';
import { formatDuration } from './durations.ts';
import { minuteOf, table } from '../terminal/table.ts';
import { cancel, erase, getSession, retry } from './session-changes.ts';
import { exportSessions } from './session-export.ts';
import { listedSessionJson, sessionJson, sessionText } from './session-view.ts';
import type { Command } from 'commander';
import type { SessionStatus } from '../../db/schema.ts';
import type { AdminContext } from './admin-context.ts';
import type { Answer } from './answer.ts';
import type { Report } from './command.ts';

const statuses: SessionStatus[] = ['queued', 'processing', 'completed', 'failed'];
const maxListed = 10_000;

export function addSessionCommands(program: Command, answer: Answer): void {
  const group = addGroup(program, 'sessions', 'List, show, export, retry, cancel and delete sessions.');

  addCommand(
    group,
    'list',
    'List sessions of an account, newest first.',
    'list ACCOUNT',
    'list ACCOUNT --status failed --limit 500',
  )
    .argument('<account>', 'id of the account', accountId)
    .addOption(new Option('--status <status>', 'only these').choices(statuses))
    .option('--limit <n>', `how many at most, up to ${maxListed}`, wholeNumber(1, maxListed), 100)
    .action((id: string, options: ListOptions, command: Command) =>
      answer(command, (admin) => list(admin, id, options)),
    );

  const exports = 'Write all transcripts of an account to a zip, as JSON and as text, with a list of its sessions.';
  addCommand(group, 'export', exports, 'export ACCOUNT --to acme.zip')
    .argument('<account>', 'id of the account', accountId)
    .requiredOption('--to <file>', 'a file that is not there yet')
    .action((id: string, { to }: { to: string }, command: Command) =>
      answer(command, (admin) => exportSessions(admin, id, to)),
    );

  addCommand(group, 'show', 'Show a session, without its transcript.', 'show SESSION')
    .argument('<session>', 'id of the session', sessionId)
    .action((id: string, _options: object, command: Command) => answer(command, (admin) => show(admin, id, '')));

  addCommand(group, 'retry', 'Queue a failed session again, while its audio is still there.', 'retry SESSION')
    .argument('<session>', 'id of the session', sessionId)
    .action((id: string, _options: object, command: Command) =>
      answer(command, async (admin) => {
        await retry(admin, id);
        return show(admin, id, 'The session is queued again.');
      }),
    );

  addCommand(group, 'cancel', 'Fail a queued or processing session, uncharged.', 'cancel SESSION')
    .argument('<session>', 'id of the session', sessionId)
    .action((id: string, _options: object, command: Command) =>
      answer(command, async (admin) => {
        await cancel(admin, id);
        return show(admin, id, 'The session is canceled and charges nothing.');
      }),
    );

  addCommand(group, 'delete', 'Erase a session: transcript, title, audio and job.', 'delete SESSION')
    .argument('<session>', 'id of the session', sessionId)
    .action((id: string, _options: object, command: Command) =>
      answer(command, async (admin) => {
        const account = await erase(admin, id);
        return {
          json: { id, accountId: account, deleted: true },
          text: `Session ${id} is erased, with its transcript and audio.`,
        };
      }),
    );
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
