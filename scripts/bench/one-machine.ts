/** One machine after `npm start`: how long a start takes, when a worker begins, how much a long recording and waiting cost. */
import { execFile } from 'node:child_process';
import { openAsBlob } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { recognizerNames } from '../../src/recognizers/names.ts';
import { makeRecording, librivoxClips } from './spoken-clips.ts';
import { serviceEnv, startProgram } from './program.ts';
import { makeSpeech, preparePipeline, send, transcribeBy, untilAnswered, watchSessions } from './session-client.ts';
import { median } from './statistics.ts';
import { randomUUIDv7 } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { inAccountTransaction } from '../../db/accounts/account-transaction.ts';
import { openDatabase } from '../../db/connection/database.ts';
import { insertQueuedSession } from '../../db/sessions/states.ts';
import { createLog } from '../../src/ops/log.ts';
import { Queue } from '../../src/queue/queue.ts';
import { cpuOfTree } from './process-tree.ts';
import type { Bench, Check, Findings, Setting } from './bench.ts';
import type { Client, Cost, SessionEvents } from './session-client.ts';
import type { BenchDatabase } from './database.ts';

const megabyte = 1_000_000;
const hourMs = 3_600_000;
const jobsAtOnce = 2;

export const oneMachine: Bench = {
  name: 'one-machine',
  summary: 'a start, a pick-up, a recording of many hours, and waiting: [--hours H] [--recognizer R]',
  takes: ['hours', 'recognizer'],
  run,
};

/** All in ms. */
interface Wait {
  /** From the commit of the upload to the commit of the claim. */
  queued: number;
  /** From the commit of the transaction that stores the transcript to the client's answer. */
  stored: number;
}

interface Measured {
  hours: number;
  /** From `npm start` to `/readyz`, by the PostgreSQL it starts with. */
  starts: { own: number[]; embedded: number[] };
  /** Round by round. */
  pickup: Wait[][];
  pauses: number[];
  long: Cost;
  idle: Idle;
}

/** One service does all the work. The starts come last, when nothing else runs. */
async function run(setting: Setting): Promise<Findings> {
  const { choices, say, signal } = setting;
  const hours = choices.hours ?? setting.sized({ full: 10, quick: 0.1, tiny: 0.0022 });
  const backlog = setting.sized({ full: 200, quick: 20, tiny: 4 });
  const recognizer = choices.recognizer ?? process.env['RECOGNIZER'] ?? recognizerNames[0];
  say(`Making ${hours} hours of speech …`);
  const recording = await makeHours(setting, hours);

  say('Starting PostgreSQL and the service …');
  const prepared = await preparePipeline(setting);
  const { database, account } = prepared;
  const events = await watchSessions(setting, database);
  const env = {
    ...serviceEnv(setting, database.url),
    ...{ NODE_ENV: 'production', RECOGNIZER: recognizer, WORKER_CONCURRENCY: String(jobsAtOnce) },
  };
  const api = await startProgram(setting, { script: 'src/start-api.ts', env });
  const client: Client = { url: api.url, key: account.key, audio: await makeSpeech(setting), signal };
  const ids: string[] = [];
  while (ids.length < backlog) ids.push((await send(client)).id);
  await api.stop();

  const service = await startProgram(setting, { script: 'src/start.ts', env });
  client.url = service.url;
  say(`Measuring: a backlog of ${backlog} …`);
  const pauses = await pausesOf(client, events, ids);
  const pickup = await measurePickup(setting, client, events);
  say(`Measuring: ${hours} hours of speech …`);
  const long = await transcribeBy({ ...client, audio: await openAsBlob(recording) }, prepared, service.pid);
  const idle = await measureWaiting(setting, database, service.pid, client, account.id);
  await service.stop();
  const own = await measureStarts(setting, 'own PostgreSQL', { DATABASE_URL: database.url });
  await database.leave();
  const embedded = await measureStarts(setting, 'embedded PostgreSQL', {});

  const measured: Measured = { hours, starts: { own, embedded }, pickup, pauses, long, idle };
  return {
    sizes: { hours, recognizer, backlog, 'jobs at once': jobsAtOnce, waits },
    checks: checksOf(measured),
    raw: { ...measured, long: { ...long, text: undefined } },
  };
}

/** Half an hour at most, repeated. FLAC is lossless and has half the size of the samples. */
async function makeHours({ folder, signal }: Setting, hours: number): Promise<string> {
  const [part, file] = [join(folder, 'part.wav'), join(folder, 'hours.flac')];
  await makeRecording(part, await librivoxClips(), Math.round(Math.min(0.5, hours) * hourMs));
  const input = ['-stream_loop', '-1', '-i', part, '-t', String(hours * 3_600)];
  const output = ['-compression_level', '0', '-f', 'flac', file];
  await promisify(execFile)('ffmpeg', ['-v', 'error', '-nostdin', '-y', ...input, ...output], { signal });
  await rm(part);
  return file;
}

/**
 * Waits for a backlog that was there when the worker started. Each job that ends makes room for the next one.
 * @returns ms from the end of each job to the beginning of the next one in its place
 */
async function pausesOf(client: Client, events: SessionEvents, ids: readonly string[]): Promise<number[]> {
  await Promise.all(ids.map((id) => untilAnswered(client, id)));
  for (const id of ids) await events.timeOf(id, 'completed');
  const ended = events.timesOf('completed');
  const began = events.timesOf('processing').slice(jobsAtOnce);
  return began.map((at, index) => at - ended[index]!);
}

/** Uploads one clip after the other to an idle worker and waits for each. @returns round by round */
async function measurePickup(setting: Setting, client: Client, events: SessionEvents): Promise<Wait[][]> {
  const rounds = setting.sized({ full: 5, quick: 3, tiny: 1 });
  const perRound = setting.sized({ full: 20, quick: 5, tiny: 1 });
  const measured: Wait[][] = [];
  for (let round = 0; round < rounds; round += 1) {
    setting.say(`Measuring: one upload at a time, round ${round + 1} of ${rounds} …`);
    const waits: Wait[] = [];
    while (waits.length < perRound) {
      const { id } = await send(client);
      const answeredAt = await untilAnswered(client, id);
      const queued = (await events.timeOf(id, 'processing')) - (await events.timeOf(id, 'queued'));
      waits.push({ queued, stored: answeredAt - (await events.timeOf(id, 'completed')) });
    }
    measured.push(waits);
  }
  return measured;
}

/** How long people and supervisors wait from `npm start` until the service serves. @param database in the environment */
async function measureStarts(setting: Setting, kind: string, database: Record<string, string>): Promise<number[]> {
  const rounds = setting.sized({ full: 10, quick: 4, tiny: 1 });
  const { DATABASE_URL: _, ...env } = serviceEnv(setting, '');
  const took: number[] = [];
  // The first start fills the caches of the compiler and the disk.
  for (let round = setting.size === 'tiny' ? 0 : -1; round < rounds; round += 1) {
    setting.say(`Measuring: ${kind}, start ${Math.max(1, round + 1)} of ${rounds} …`);
    const began = performance.now();
    const service = await startProgram(setting, {
      script: 'src/start.ts',
      byNpm: 'start',
      env: { ...env, ...database },
    });
    if (round >= 0) took.push(performance.now() - began);
    await service.stop();
  }
  return took;
}

function checksOf({ hours, starts, pickup, pauses, long, idle }: Measured): Check[] {
  const middle = (which: keyof Wait) => pickup.map((round) => median(round.map((wait) => wait[which])));
  const ms = (work: string, measure: string, values: number[], atMost: number): Check => ({
    ...{ work, measure, values, unit: 'ms', goal: { atMost } },
  });
  const work = `${hours} h of speech`;
  return [
    ms('start, own PostgreSQL', 'npm start → /readyz', starts.own, 1_000),
    ms('start, embedded PostgreSQL', 'npm start → /readyz', starts.embedded, 1_500),
    ms('upload committed → processing', 'p50', middle('queued'), 15),
    ms('stored → answered', 'p50', middle('stored'), 10),
    ms('backlog: pause between two jobs', 'p50', [median(pauses)], 100),
    {
      work,
      measure: 'peak memory of the service',
      values: [long.memory.own / megabyte],
      unit: 'MB',
      goal: { atMost: 300 },
    },
    { work, measure: 'peak memory of ffmpeg and the recognizer', values: [long.memory.below / megabyte], unit: 'MB' },
    { work, measure: 'upload → transcript', values: [long.ms / 1000], unit: 's' },
    { work, measure: 'CPU', values: [long.cpuMs / 1000], unit: 's' },
    {
      ...{ work: `${waits} clients wait`, measure: 'CPU of service and PostgreSQL, of one core', unit: '%' },
      ...{ values: idle.service.map((value, round) => value + idle.PostgreSQL[round]!), goal: { atMost: 1 } },
    },
  ];
}

const waits = 50;

/** CPU in % of one core, round by round. */
interface Idle {
  service: number[];
  PostgreSQL: number[];
}

/** @param pid of the service */
async function measureWaiting(
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
        const ids = { account_id: accountId, id, job_id: randomUUIDv7(), queue_job_id: randomUUIDv7() };
        const unmeasured = { duration_ms: null, max_audio_ms: 14_400_000, reserved_ms: 0 };
        const queued = await insertQueuedSession(trx, { ...ids, ...unmeasured, title: 'Later', attempts_left: 3 });
        await queue.enqueue(trx, account!, queued, 540);
      });
      ids.push(id);
    }
    return ids;
  } finally {
    await queue.stop();
    await close();
  }
}

async function keepWaiting(client: Client, id: string, signal: AbortSignal): Promise<void> {
  const answered = await untilAnswered({ ...client, signal }, id).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  if (answered !== undefined) throw new Error('a session that should wait is completed');
}
