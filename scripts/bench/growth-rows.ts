/** Rows that nobody needs any more: what is left of a month of uploads when a worker has been there. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createLog } from '../../src/ops/log.ts';
import { Queue, transcriptionQueue } from '../../src/queue/queue.ts';
import { addDatabase, seedAccounts, settle } from './database.ts';
import { serviceEnv, startProgram } from './program.ts';
import type { Setting } from './bench.ts';
import type { BenchDatabase } from './database.ts';

const days = 30;
/** A worker's sweep begins at once, its look at the queue after 10 s. */
const cleaningLimitMs = 120_000;

export interface KeptRows {
  what: string;
  before: number;
  after: number;
  /** As many as may be kept: the queue keeps finished jobs for a week, and removes them once a day. */
  bound: number;
}

interface Counts {
  jobs: number;
  keys: number;
  windows: number;
}

export async function keptAfterAMonth(setting: Setting, server: BenchDatabase): Promise<KeptRows[]> {
  const perDay = setting.sized({ full: 10_000, quick: 1_000, tiny: 100 });
  const accounts = setting.sized({ full: 1_000, quick: 100, tiny: 10 });
  const database = await addDatabase(setting, server, 'a_month');
  const queue = new Queue(database.url, createLog({ logLevel: 'silent' }), 'api');
  await queue.start();
  await queue.stop();
  await seedAccounts(database, accounts);
  await seedMonth(database, perDay);
  await settle(database);
  const before = await count(database);

  const bounds: Counts = { jobs: 8 * perDay, keys: perDay, windows: accounts };
  const worker = await startProgram(setting, {
    ...{ script: 'src/start-worker.ts', answersOn: 'OPS_PORT' },
    env: serviceEnv(setting, database.url),
  });
  let after = before;
  for (const deadline = performance.now() + cleaningLimitMs; performance.now() < deadline;) {
    after = await count(database);
    if (after.jobs <= bounds.jobs && after.keys <= bounds.keys) break;
    await sleep(500, undefined, { signal: setting.signal });
  }
  await worker.stop();
  const rowOf = (what: string, name: keyof Counts): KeptRows => {
    return { what, before: before[name], after: after[name], bound: bounds[name] };
  };
  return [
    rowOf('finished jobs in the queue', 'jobs'),
    rowOf('records of Idempotency-Keys', 'keys'),
    rowOf('windows of the allowance', 'windows'),
  ];
}

/** Uploads of every day, evenly over all accounts: each had a job, an Idempotency-Key, and counted requests. */
async function seedMonth({ query }: BenchDatabase, perDay: number): Promise<void> {
  const at = `now() - interval '1 minute' - n * interval '1 day' / ${perDay}`;
  const ofAccount =
    'join (select id, row_number() over () - 1 as place, count(*) over () as all from accounts) owner on place = n % owner.all';
  const uploads = `generate_series(1, ${days * perDay}) as n ${ofAccount}`;
  await query(
    `insert into pgboss.job (name, data, state, created_on, started_on, completed_on, group_id)
     select $1, jsonb_build_object('accountId', owner.id), 'completed', ${at}, ${at}, ${at}, owner.id from ${uploads}`,
    [transcriptionQueue],
  );
  await query(
    `insert into idempotency (account_id, key, fingerprint, session_id, job_id, created_at)
     select owner.id, 'upload ' || n, '\\x00', uuidv7(), uuidv7(), ${at} from ${uploads}`,
  );
  // A later window of an account takes the place of the one before.
  await query(
    `insert into allowance as counted (account_id, window_number, used)
     select owner.id, max(floor(extract(epoch from ${at}) / 60)), count(*) from ${uploads} group by owner.id`,
  );
}

async function count({ query }: BenchDatabase): Promise<Counts> {
  const [counts] = await query<Counts>(`select
    (select count(*)::int from pgboss.job) as jobs,
    (select count(*)::int from idempotency) as keys,
    (select count(*)::int from allowance) as windows`);
  return counts!;
}
