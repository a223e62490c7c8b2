/** What support does to a session, and the sentence for each refusal. */
import { findAccountOfSession, findSessionRow } from '../../db/sessions/sessions.ts';
import { availableMs } from '../../src/sessions/balance.ts';
import { cancelSession, eraseSession, retrySession } from '../../src/sessions/support.ts';
import { formatDuration } from './durations.ts';
import { Refusal } from '../terminal/refusal.ts';
import { audioLeft } from './exit.ts';
import type { Queryable } from '../../db/connection/database.ts';
import type { Session } from '../../db/sessions/sessions.ts';
import type { SupportAct } from '../../db/schema.ts';
import type { Recorded, RetryOutcome } from '../../src/sessions/support.ts';
import type { AdminContext } from './admin-context.ts';

/** @throws {Refusal} when there is none */
export async function getSession(db: Queryable, id: string): Promise<Session> {
  const accountId = await findAccountOfSession(db, id);
  const session = accountId === undefined ? undefined : await findSessionRow(db, accountId, id);
  if (session === undefined) throw new Refusal(unknown(id));
  return session;
}

const logged =
  ({ record }: AdminContext, act: SupportAct, sessionId: string): Recorded =>
  (trx, accountId) =>
    record(trx, { act, accountId, details: { sessionId } });

/** @throws {Refusal} when the session is final or unknown */
export async function cancel(admin: AdminContext, id: string): Promise<void> {
  const outcome = await cancelSession(
    { ...admin, queue: await admin.queue() },
    id,
    logged(admin, 'sessions cancel', id),
  );
  if (outcome.kind === 'unknown') throw new Refusal(unknown(id));
  if (outcome.kind === 'final')
    throw new Refusal(`Session ${id} is ${outcome.status} already: only queued and processing ones can be canceled.`);
}

/** @throws {Refusal} when the session is not failed or its account may not upload its audio now */
export async function retry(admin: AdminContext, id: string): Promise<void> {
  const outcome = await retrySession({ ...admin, queue: await admin.queue() }, id, logged(admin, 'sessions retry', id));
  if (outcome.kind !== 'queued') throw new Refusal(whyNotRetried(id, outcome));
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

/**
 * @returns the account that had it
 * @throws {Refusal} when the session is unknown, or its audio could not be removed
 */
export async function erase(admin: AdminContext, id: string): Promise<string> {
  const outcome = await eraseSession(
    { ...admin, queue: await admin.queue() },
    id,
    logged(admin, 'sessions delete', id),
  );
  if (outcome.kind === 'unknown') throw new Refusal(unknown(id));
  if (outcome.kind === 'audio_left') throw audioLeft(outcome.error);
  return outcome.accountId;
}

const unknown = (id: string) => `There is no session ${id}. "sessions list ACCOUNT" shows those of an account.`;
