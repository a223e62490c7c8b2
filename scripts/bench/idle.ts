/** Doing nothing: what the service costs while clients wait for sessions that nobody works on yet. */
import { randomUUIDv7 } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { inAccountTransaction } from '../../db/accounts/account-transaction.ts';
import { openDatabase } from '../../db/connection/database.ts';
import { insertQueuedSession } from '../../db/sessions/states.ts';
import { createLog } from '../../src/ops/log.ts';
import { Queue } from '../../src/queue/queue.ts';
import { giveJob } from '../../src/sessions/job.ts';
import { seedAccounts, settle, startDatabase } from './database.ts';
import { cpuOfTree } from './process-tree.ts';
import { cpuOf, memoryOf, serviceEnv, startApiProgram, startProgram } from './program.ts';
import { quantile } from './statistics.ts';
import type { Bench, Findings, Setting } from './bench.ts';
import type { BenchDatabase } from './database.ts';
import type { Program } from './program.ts';

export const idle: Bench = {
  name: 'idle',
  summary: 'CPU and memory of API, worker and PostgreSQL while 50 clients wait and nothing happens',
  run,
};

const waits = 50;
const parts = ['API', 'worker', 'PostgreSQL'] as const;
type Part = (typeof parts)[number];

async function run(setting: Setting): Promise<Findings> {
  const rounds = setting.sized({ full: 5, quick: 2, tiny: 1 });
  // As long as a client may wait, so that each of them comes again once.
  const seconds = setting.sized({ full: 30, quick: 15, tiny: 1 });
  setting.say('Starting PostgreSQL and the service …');
  const database = await startDatabase(setting);
  const [account] = await seedAccounts(database, 1);
  const sessions = await queueForLater(database, account!.id);
  await settle(database);
  const [api, worker] = await Promise.all([
    startApiProgram(setting, database.url),
    startProgram(setting, {
      ...{ script: 'src/start-worker.ts', answersOn: 'OPS_PORT' },
      env: serviceEnv(setting, database.url),
    }),
  ]);
  const waiting = new AbortController();
  const signal = AbortSignal.any([waiting.signal, setting.signal]);
  const clients = sessions.map((id) =>
    keepWaiting(`${api.url}/v1/sessions/${id}/transcript?wait=30`, account!.key, signal),
  );
  const allWait = Promise.all(clients);
  const pass = (ms: number) => Promise.race([allWait, sleep(ms, undefined, { signal })]);
  // What a start leaves to be done is over by then.
  await pass(setting.sized({ full: 30_000, quick: 10_000, tiny: 500 }));

  const measured: Record<Part, number>[] = [];
  for (let round = 0; round < rounds; round += 1) {
    setting.say(`Measuring: ${waits} clients wait, round ${round + 1} of ${rounds} …`);
    const before = cpuNow(api, worker, database);
    await pass(seconds * 1000);
    const after = cpuNow(api, worker, database);
    const percent = (part: Part) => (after[part] - before[part]) / (seconds * 10);
    measured.push({ API: percent('API'), worker: percent('worker'), PostgreSQL: percent('PostgreSQL') });
  }
  const memory = { API: memoryOf(api.pid).now / 1e6, worker: memoryOf(worker.pid).now / 1e6 };
  waiting.abort();
  await allWait;
  return {
    sizes: { waits, rounds, seconds },
    checks: [
      {
        work: `${waits} clients wait`,
        measure: 'CPU of API, worker and PostgreSQL, of one core',
        unit: '%',
        values: measured.map((round) => parts.reduce((sum, part) => sum + round[part], 0)),
        goal: { atMost: 1 },
      },
    ],
    figures: [
      {
        title: 'Medians of all rounds',
        head: ['part', '% of a core', 'resident MB'],
        rows: parts.map((part) => [
          part,
          quantile(
            measured.map((round) => round[part]),
            0.5,
          ),
          part === 'PostgreSQL' ? '' : memory[part],
        ]),
      },
    ],
    raw: { measured, memory },
  };
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

async function keepWaiting(url: string, key: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const answer = await fetch(url, { headers: { Authorization: `Bearer ${key}` }, signal }).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    if (answer === undefined) return;
    const { status } = (await answer.json()) as { status: string };
    if (status !== 'queued') throw new Error(`a session that should wait is ${status}`);
  }
}

const cpuNow = (api: Program, worker: Program, database: BenchDatabase): Record<Part, number> => ({
  ...{ API: cpuOf(api.pid), worker: cpuOf(worker.pid), PostgreSQL: cpuOfTree(database.pid) },
});
