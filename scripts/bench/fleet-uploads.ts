/** Uploads of a fleet's accounts as the API accepts them, without audio and search index. */
import { randomUUIDv7 } from 'node:crypto';
import { inAccountTransaction } from '../../db/accounts/account-transaction.ts';
import { changeReserved } from '../../db/accounts/accounts.ts';
import { openConnection, openDatabase } from '../../db/connection/database.ts';
import { nextStartTag } from '../../db/sessions/start-tag.ts';
import { insertQueuedSession, sessionChannel } from '../../db/sessions/states.ts';
import { createLog } from '../../src/ops/log.ts';
import { Queue, maxAttempts, newJobId, transcriptionQueue } from '../../src/queue/queue.ts';
import { giveJob } from '../../src/sessions/job.ts';
import type { BenchDatabase } from './database.ts';

/** How long each recording is. */
const audioMs = 60_000;

/** Accepts one upload. @returns the session */
export type Upload = (accountId: string) => Promise<string>;

export async function openUploads({ url }: BenchDatabase): Promise<{ upload: Upload; close(): Promise<void> }> {
  const { db, close } = openDatabase(url, () => undefined, { maxConnections: 4 });
  const queue = new Queue(url, createLog({ logLevel: 'warn' }), 'api');
  await queue.start();
  const upload: Upload = async (accountId) => {
    const id = randomUUIDv7();
    await inAccountTransaction(db, accountId, async (trx, account) => {
      const session = await insertQueuedSession(trx, {
        ...{ accountId, id, jobId: randomUUIDv7(), queueJobId: newJobId(), title: 'Morning' },
        ...{ durationMs: audioMs, maxAudioMs: audioMs, reservedMs: audioMs, attempts: maxAttempts },
        startTag: nextStartTag(transcriptionQueue, account!),
      });
      await changeReserved(trx, accountId, audioMs);
      await giveJob(trx, queue, account!, session);
    });
    return id;
  };
  const end = async () => {
    await queue.stop();
    await close();
  };
  return { upload, close: end };
}

/** Lets so many more jobs wait, evenly over the accounts, each as the last upload of its account. */
export async function seedWaiting({ query }: BenchDatabase, accounts: readonly string[], count: number): Promise<void> {
  const last = `from sessions s join pgboss.job j on j.name = $1 and j.id = s.queue_job_id, accounts a,
    generate_series(1, ceil($3::numeric / cardinality($2::uuid[]))::int) as n
    where s.account_id = any ($2::uuid[]) and a.id = s.account_id`;
  const step = `n * (s.duration_ms / 100 / a.running_jobs + 1)`;
  await query(
    `with made as materialized (
       select s as session, j as job, n, ${step} as later, uuidv7() as id, uuidv7() as job_id, uuidv7() as queue_job_id ${last}
     ), inserted as (
       insert into sessions select (jsonb_populate_record(session, jsonb_build_object('id', id, 'job_id', job_id,
         'queue_job_id', queue_job_id, 'created_at', now(), 'start_tag', (session).start_tag + later))).* from made
     )
     insert into pgboss.job select (jsonb_populate_record(job, jsonb_build_object('id', queue_job_id, 'created_on', now(),
       'priority', (job).priority - later, 'data', (job).data || jsonb_build_object('sessionId', id, 'queueJobId', queue_job_id)
     ))).* from made`,
    [transcriptionQueue, accounts, count],
  );
  await query(
    `update accounts a set reserved_ms = (select sum(reserved_ms) from sessions where account_id = a.id)
     where id = any ($1::uuid[])`,
    [accounts],
  );
}

/** Hears which sessions have ended. */
export async function hearEndings({ url }: BenchDatabase, onEnd: (id: string) => void): Promise<() => Promise<void>> {
  const connection = openConnection(url);
  connection.on('error', () => undefined);
  connection.on('notification', ({ payload = '' }) => onEnd(payload));
  await connection.connect();
  await connection.query(`listen ${sessionChannel}`);
  return () => connection.end();
}
