/** A database and a folder with a session of every kind, made as clients, workers and support make them, and sound. */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { updateAccount } from '../../../db/accounts/accounts.ts';
import { addToSupportLog } from '../../../db/accounts/support-log.ts';
import { eraseAccount } from '../../../src/sessions/account-erasure.ts';
import { cancelSession, eraseSession, retrySession } from '../../../src/sessions/support.ts';
import { RecognizerError } from '../../../src/recognizers/recognizer.ts';
import { makeAccount } from './accounts.ts';
import { final, upload } from './jobs.ts';
import { ScriptedRecognizer, says } from '../models/scripted-recognizer.ts';
import { claimSession } from './sessions.ts';
import { tone } from '../uploads/uploads.ts';
import type { Recorded } from '../../../src/sessions/support.ts';
import type { Transcript } from '../../../src/recognizers/recognizer.ts';
import type { TestService } from './service.ts';

export const kinds = ['spoken', 'silent', 'failed', 'canceled', 'retried', 'deleted', 'queued', 'processing'] as const;
export type Kind = (typeof kinds)[number];

export type EverySession = Awaited<ReturnType<typeof makeEverySession>>;

const twice: Transcript = {
  language: 'en-US',
  segments: [
    says('good morning').segments[0]!,
    {
      ...{ index: 1, startMs: 500, endMs: 700, text: 'begin now', confidence: 0.5 },
      words: [
        { startMs: 500, endMs: 600, text: 'begin' },
        { startMs: 600, endMs: 700, text: 'now', confidence: 0.5 },
      ],
    },
  ],
};

/** Works with a worker of its own, which has stopped when this answers. */
export async function makeEverySession(service: TestService) {
  const { db } = service;
  const [account, other, erased] = [await makeAccount(db), await makeAccount(db), await makeAccount(db)];
  await updateAccount(db, account.id, { retention_days: 30 });
  const file = join(await mkdtemp(join(process.env.TEST_FOLDER!, 'every-')), 'tone.wav');
  await writeFile(file, await tone(1_000));
  const sent = async (owner = account) => (await upload(service, owner, file)).sessionId;

  const recognizer = new ScriptedRecognizer(async ({ sessionId }) => {
    if (sessionId === failed) throw new RecognizerError('recognizer_error', 'as the test says', { retryable: false });
    return sessionId === silent ? { language: 'en-US', segments: [] } : twice;
  });
  const [spoken, silent, failed, deleted] = [await sent(), await sent(), await sent(), await sent()];
  await sent(erased);
  const worker = await service.work(recognizer);
  for (const id of [spoken, silent, failed, deleted]) await final(service, account, id);
  await worker.stop();

  const again = () =>
    service.post('/v1/transcriptions', account.key).set('Idempotency-Key', 'once').attach('file', file).expect(202);
  const queued = ((await again()).body as { sessionId: string }).sessionId;
  const [canceled, retried, processing] = [await sent(), await sent(), await sent()];
  const log: Recorded = (trx) => addToSupportLog(trx, 'a test', { act: 'sessions cancel', accountId: account.id });
  expect(await cancelSession(service, account.id, canceled, log)).toEqual({ kind: 'canceled' });
  expect(await cancelSession(service, account.id, retried, log)).toEqual({ kind: 'canceled' });
  expect(await retrySession(service, account.id, retried)).toEqual({ kind: 'queued' });
  expect(await eraseSession(service, account.id, deleted)).toEqual({ kind: 'erased' });
  expect(await eraseAccount(service, erased.id)).toEqual({ kind: 'erased', sessions: 1, keys: 1 });
  const sessions: Record<Kind, string> = { spoken, silent, failed, canceled, retried, deleted, queued, processing };
  await beginToWork(service, account.id, processing);
  // `other` has a balance and nothing else.
  return { account, other, erasedId: erased.id, sessions };
}

/** As a worker does that has decoded the audio and recognizes it now. */
async function beginToWork({ db, dataDir }: TestService, accountId: string, id: string): Promise<void> {
  const row = await db.selectFrom('sessions').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const session = { accountId, id, jobId: row.job_id, queueJobId: row.queue_job_id, reservedMs: row.reserved_ms };
  const { attempt } = await claimSession(db, session, 40);
  await writeFile(join(dataDir, 'work', `${accountId}.${id}.${attempt}`), 'decoded');
}
