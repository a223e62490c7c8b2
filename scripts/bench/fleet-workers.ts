/**
 * Worker processes whose recognizer only waits, several in one process of Node. Each has its own queue: its own fetch loop,
 * listener and connections. `GET /` answers how often they have fetched.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { PgBoss } from 'pg-boss';
import { inAccountTransaction } from '../../db/accounts/account-transaction.ts';
import { openDatabase } from '../../db/connection/database.ts';
import { createLog } from '../../src/ops/log.ts';
import { Queue, transcriptionQueue } from '../../src/queue/queue.ts';
import { completeSession } from '../../src/sessions/endings.ts';
import { toStoredTranscript } from '../../src/worker/stored-transcript.ts';
import { claimInTurn } from '../../src/worker/turn.ts';
import { places } from './fleet-sizes.ts';
import type { Db } from '../../db/connection/database.ts';
import type { QueuedJob } from '../../src/queue/jobs.ts';
import type { Fetches } from './fleet-sizes.ts';

const fetches: Fetches = { all: 0, empty: 0 };
const { fetch } = PgBoss.prototype;
PgBoss.prototype.fetch = async function (this: PgBoss, name: string, options?: object) {
  const jobs = await fetch.call(this, name, options);
  if (name !== transcriptionQueue) return jobs;
  fetches.all += 1;
  if (jobs.length === 0) fetches.empty += 1;
  return jobs;
} as typeof fetch;

async function startWorker(url: string) {
  const { db, close } = openDatabase(url, () => undefined, { maxConnections: 3 });
  const queue = new Queue(url, createLog({ logLevel: 'warn' }), 'worker');
  await queue.start();
  queue.work(
    () => places,
    (job) => hear(job, db, queue),
  );
  return async () => {
    await queue.stopTaking();
    await queue.stop();
    await close();
  };
}

/** As the worker does, without audio, search index and sweeps. */
async function hear(job: QueuedJob, db: Db, queue: Queue): Promise<void> {
  const claim = await claimInTurn(job, { db, queue });
  if (claim === undefined || typeof claim === 'string') return;
  await sleep(Number(process.env['FLEET_JOB_MS']));
  const { accountId, sessionId } = job.data;
  const attempt = { accountId, sessionId, attempt: claim.attempt };
  const segment = { index: 0, startMs: 0, endMs: 900, text: 'Good morning', words: [] };
  await inAccountTransaction(db, accountId, async (trx) => {
    const stored = toStoredTranscript({ language: 'en', segments: [segment] }, claim.reserved_ms);
    await completeSession(trx, attempt, claim.reserved_ms, stored);
    await queue.complete(trx, job);
  });
}

const stops: (() => Promise<void>)[] = [];
for (let index = 0; index < Number(process.env['FLEET_WORKERS']); index += 1)
  stops.push(await startWorker(process.env['DATABASE_URL']!));
const server = createServer((_, res) => res.end(JSON.stringify(fetches)));
server.listen(Number(process.env['PORT']), '127.0.0.1');
await once(process, 'SIGTERM');
server.close();
server.closeAllConnections();
await Promise.all(stops.map((stop) => stop()));
