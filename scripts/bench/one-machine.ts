/** One machine after `npm start`: how long a start takes, when a worker begins, how much a long recording and waiting cost. */
import { execFile } from 'node:child_process';
import { openAsBlob } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { recognizerNames } from '../../src/recognizers/names.ts';
import { makeRecording } from './long-recording.ts';
import { measureWaiting, waits } from './one-machine-waiting.ts';
import { preparePipeline, transcribeBy } from './pipeline-service.ts';
import { serviceEnv, startProgram } from './program.ts';
import { makeSpeech, send, untilAnswered, watchSessions } from './session-client.ts';
import { librivoxClips } from './spoken-clips.ts';
import { median, quantile } from './statistics.ts';
import type { Bench, Check, Figures, Findings, Setting } from './bench.ts';
import type { Idle } from './one-machine-waiting.ts';
import type { Cost } from './pipeline-service.ts';
import type { Client, SessionEvents } from './session-client.ts';

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
    figures: [pickupsOf(measured), costsOf(measured)],
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
  return [
    ms('start, own PostgreSQL', 'npm start → /readyz', starts.own, 1_000),
    ms('start, embedded PostgreSQL', 'npm start → /readyz', starts.embedded, 1_500),
    ms('upload committed → processing', 'p50', middle('queued'), 15),
    ms('stored → answered', 'p50', middle('stored'), 10),
    ms('backlog: pause between two jobs', 'p50', [median(pauses)], 100),
    {
      ...{ work: `${hours} h of speech`, measure: 'peak memory of the service', unit: 'MB' },
      ...{ values: [long.memory.own / megabyte], goal: { atMost: 300 } },
    },
    {
      ...{ work: `${waits} clients wait`, measure: 'CPU of service and PostgreSQL, of one core', unit: '%' },
      ...{ values: idle.service.map((value, round) => value + idle.PostgreSQL[round]!), goal: { atMost: 1 } },
    },
  ];
}

function pickupsOf({ pickup, pauses }: Measured): Figures {
  const all = (which: keyof Wait) => pickup.flat().map((wait) => wait[which]);
  const row = (what: string, values: number[]) => [what, ...[0.5, 0.95, 1].map((q) => quantile(values, q))];
  return {
    title: 'Pick-up, all rounds, ms',
    head: ['what', 'p50', 'p95', 'most'],
    rows: [
      row('upload committed → processing, idle worker', all('queued')),
      row('stored → answered, idle worker', all('stored')),
      row('pause between two jobs, backlog', pauses),
    ],
  };
}

function costsOf({ hours, long, idle }: Measured): Figures {
  return {
    title: 'Costs',
    head: ['what', ''],
    rows: [
      [`${hours} h of speech: s from upload to transcript`, long.ms / 1000],
      [`${hours} h of speech: CPU s`, long.cpuMs / 1000],
      [`${hours} h of speech: peak MB of the service’s own process`, long.memory.own / megabyte],
      [`${hours} h of speech: peak MB of ffmpeg and the recognizer`, long.memory.below / megabyte],
      [`${waits} clients wait: % of a core of the service`, median(idle.service)],
      [`${waits} clients wait: % of a core of PostgreSQL`, median(idle.PostgreSQL)],
    ],
  };
}
