/** Sends hostile files to the service as a client does, and follows each to its end. */
import { sql } from 'kysely';
import { boundary, closing, formType } from '../support/uploads/uploads.ts';
import { hurryRetries } from '../support/service/jobs.ts';
import { until } from '../support/until.ts';
import type { TestAccount } from '../support/service/accounts.ts';
import type { TestService } from '../support/service/service.ts';
import type { HostileFile } from './entry.ts';

export interface SentFile {
  /** 202, or that of the refusal. */
  status: number;
  /** Of the refusal. */
  code?: string;
  /** Of what was accepted. */
  sessionId?: string;
}

type Sendable = Pick<HostileFile, 'name' | 'declaredType'> & { bytes: Buffer };

/** One upload; fails when the answer breaks the contract. */
export async function send(service: TestService, account: TestAccount, file: Sendable): Promise<SentFile> {
  const { name, declaredType = 'audio/wav', bytes } = file;
  const body = Buffer.concat([
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="`),
    Buffer.from(name),
    Buffer.from(`"\r\nContent-Type: ${declaredType}\r\n\r\n`),
    ...[bytes, Buffer.from('\r\n'), closing],
  ]);
  const request = service.post('/v1/transcriptions', account.key).set('Content-Type', formType);
  const { status, body: answer } = await request.send(body);
  return status === 202 ? { status, sessionId: String(answer.sessionId) } : { status, code: String(answer.code) };
}

/** Sends all of them, `atOnce` at a time, and answers in their order. */
export async function sendAll(
  service: TestService,
  account: TestAccount,
  files: readonly Sendable[],
  atOnce = 3,
): Promise<SentFile[]> {
  const sent: SentFile[] = [];
  const waiting = files.entries();
  const sendNext = async (): Promise<void> => {
    for (const [index, file] of waiting) sent[index] = await send(service, account, file);
  };
  await Promise.all(Array.from({ length: atOnce }, sendNext));
  return sent;
}

export interface EndedSession {
  id: string;
  status: string;
  error_code: string | null;
  duration_ms: number | null;
  attempt: number;
}

/** The account's sessions by id, once all of them are final. Attempts that the queue would try again don't wait for it. */
export async function endedSessions(
  { db, ...service }: TestService,
  account: TestAccount,
  maxMs: number,
): Promise<Map<string, EndedSession>> {
  const unfinished = async () => {
    await hurryRetries({ db, ...service });
    const { rows } = await sql<{ id: string }>`select id from sessions
      where account_id = ${account.id} and status in ('queued', 'processing')`.execute(db);
    return rows.map(({ id }) => id);
  };
  await until(unfinished, (ids) => ids.length === 0, maxMs);
  const { rows } = await sql<EndedSession>`select id, status, error_code, duration_ms, attempt from sessions
    where account_id = ${account.id}`.execute(db);
  return new Map(rows.map((row) => [row.id, row]));
}
