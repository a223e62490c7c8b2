/** Uploads and what becomes of them, as a client sees it, and the rows behind them. */
import { sql } from 'kysely';
import { findSessionRow } from '../../../db/sessions/sessions.ts';
import { until } from '../until.ts';
import type { Session } from '../../../db/sessions/sessions.ts';
import type { Schema } from '../../../codegen/operations.ts';
import type { TestAccount } from './accounts.ts';
import type { TestService } from './service.ts';

export interface Accepted {
  sessionId: string;
  jobId: string;
}

export async function upload(service: TestService, account: TestAccount, file: string): Promise<Accepted> {
  const { body } = await service.post('/v1/transcriptions', account.key).attach('file', file).expect(202);
  return body as Accepted;
}

/** Waits, as clients do, until a session is final. */
export function final(service: TestService, account: TestAccount, sessionId: string) {
  const ask = async () => {
    const { body } = await service.get(`/v1/sessions/${sessionId}/transcript?wait=10`, account.key).expect(200);
    return body as Schema<'Transcript'>;
  };
  return until(ask, ({ status }) => status === 'completed' || status === 'failed');
}

export async function row(service: TestService, account: TestAccount, sessionId: string): Promise<Session> {
  return (await findSessionRow(service.db, account.id, sessionId))!;
}

export interface JobRow {
  id: string;
  state: string;
  retry_count: number;
}

/** The rows of a session's jobs, oldest first. */
export async function jobsOf(service: TestService, sessionId: string): Promise<JobRow[]> {
  const { rows } = await sql<JobRow>`select id, state::text, retry_count from pgboss.job
    where name = 'transcription' and data->>'sessionId' = ${sessionId} order by created_on`.execute(service.db);
  return rows;
}

/** The same, as a row, while the queue's delays between attempts are cut short. */
export function finalRow(service: TestService, account: TestAccount, sessionId: string): Promise<Session> {
  const look = async () => {
    await hurryRetries(service);
    return row(service, account, sessionId);
  };
  return until(look, ({ status }) => status === 'completed' || status === 'failed');
}

/** Lets the next attempt begin without the queue's delay, and wakes the workers as the queue itself does. */
export async function hurryRetries(service: TestService): Promise<void> {
  await sql`with hurried as (
      update pgboss.job set start_after = now() where state in ('created', 'retry') and start_after > now() returning name
    )
    select pg_notify('pgboss_' || left(encode(sha224('pgboss'::bytea), 'hex'), 24), name) from hurried`.execute(
    service.db,
  );
}
