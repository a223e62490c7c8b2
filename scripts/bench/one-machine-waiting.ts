/** What the service costs while clients wait for sessions that nobody works on yet. */
import { randomUUIDv7 } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { inAccountTransaction } from '../../db/accounts/account-transaction.ts';
import { openDatabase } from '../../db/connection/database.ts';
import { insertQueuedSession } from '../../db/sessions/states.ts';
import { createLog } from '../../src/ops/log.ts';
import { Queue } from '../../src/queue/queue.ts';
import { giveJob } from '../../src/sessions/job.ts';
import { cpuOfTree } from './process-tree.ts';
import type { Setting } from './bench.ts';
import type { BenchDatabase } from './database.ts';
import type { Client } from './session-client.ts';

export const waits = 50;

/** CPU in % of one core, round by round. */
export interface Idle {
  service: number[];
  PostgreSQL: number[];
}

/** @param pid of the service */
export async function measureWaiting(
  setting: Setting,
  database: BenchDatabase,
  pid: number,
  client: Client,
  accountId: string,
): Promise<Idle> {
  const rounds = setting.sized({ full: 5, quick: 2, tiny: 1 });
  // As long as a client may wait, so that each of them comes again once.
  const roundMs = setting.sized({ full: 30_000, quick: 15_000, tiny: 1_000 });
  const sessions = await queueForLater(database, accountId);
  const waiting = new AbortController();
  const signal = AbortSignal.any([waiting.signal, setting.signal]);
  const allWait = Promise.all(sessions.map((id) => keepWaiting(client, id, signal)));
  const pass = (ms: number) => Promise.race([allWait, sleep(ms, undefined, { signal })]);
  // What the work before leaves to be done is over by then.
  await pass(setting.sized({ full: 30_000, quick: 10_000, tiny: 500 }));

  const idle: Idle = { service: [], PostgreSQL: [] };
  for (let round = 0; round < rounds; round += 1) {
    setting.say(`Measuring: ${waits} clients wait, round ${round + 1} of ${rounds} …`);
    const before = [cpuOfTree(pid), cpuOfTree(database.pid)] as const;
    await pass(roundMs);
    idle.service.push(((cpuOfTree(pid) - before[0]) / roundMs) * 100);
    idle.PostgreSQL.push(((cpuOfTree(database.pid) - before[1]) / roundMs) * 100);
  }
  waiting.abort();
  await allWait;
  return idle;
}

/** Sessions whose jobs begin when the bench is over; what is put off for more than ten minutes, a worker takes for a clock that jumped. */
async function queueForLater({ url }: BenchDatabase, accountId: string): Promise<string[]> {
  const { db, close } = openDatabase(url, () => undefined);
  const queue = new Queue(url, createLog({ logLevel: 'silent' }), 'api');
  try {
    await queue.start();
    const ids: string[] = [];
    while (ids.length < waits) {
      const id = randomUUIDv7();
      await inAccountTransaction(db, accountId, async (trx, account) => {
        const [jobId, queueJobId] = [randomUUIDv7(), randomUUIDv7()];
        const session = { accountId, id, jobId, queueJobId, title: 'Later', reservedMs: 0, maxAudioMs: 14_400_000 };
        const queued = await insertQueuedSession(trx, { ...session, durationMs: undefined, attempts: 3 });
        await giveJob(trx, queue, account!, queued, 540);
      });
      ids.push(id);
    }
    return ids;
  } finally {
    await queue.stop();
    await close();
  }
}

async function keepWaiting({ url, key }: Client, id: string, signal: AbortSignal): Promise<void> {
  const headers = { Authorization: `Bearer ${key}` };
  while (!signal.aborted) {
    const asked = fetch(`${url}/v1/sessions/${id}/transcript?wait=30`, { headers, signal });
    const answer = await asked.catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    if (answer === undefined) return;
    const { status } = (await answer.json()) as { status: string };
    if (status !== 'queued') throw new Error(`a session that should wait is ${status}`);
  }
}
