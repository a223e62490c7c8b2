/** One machine after `npm start`: how long a start takes, when a worker begins, how much a long recording and waiting cost. */
import { execFile } from 'node:child_process';
import { openAsBlob } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { recognizerNames } from '../../src/recognizers/names.ts';
import { makeRecording } from './long-recording.ts';
import { measurePickup, pausesOf } from './one-machine-pickup.ts';
import { measureStarts } from './one-machine-start.ts';
import { measureWaiting, waits } from './one-machine-waiting.ts';
import { preparePipeline, transcribeBy } from './pipeline-service.ts';
import { serviceEnv, startProgram } from './program.ts';
import { makeSpeech, send } from './session-client.ts';
import { librivoxClips } from './spoken-clips.ts';
import { quantile } from './statistics.ts';
import type { Bench, Check, Figures, Findings, Setting } from './bench.ts';
import type { Wait } from './one-machine-pickup.ts';
import type { Course } from './one-machine-start.ts';
import type { Idle } from './one-machine-waiting.ts';
import type { PipelineRun } from './pipeline-service.ts';
import type { Client } from './session-client.ts';

const megabyte = 1_000_000;
const hourMs = 3_600_000;
const jobsAtOnce = 2;

export const oneMachine: Bench = {
  name: 'one-machine',
  summary: 'a start, a pick-up, a recording of many hours, and waiting: [--hours H] [--recognizer R]',
  takes: ['hours', 'recognizer'],
  run,
};

interface Measured {
  hours: number;
  /** By the PostgreSQL it starts with. */
  starts: { own: Course[]; embedded: Course[] };
  pickup: Wait[][];
  pauses: number[];
  long: PipelineRun;
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
  const { database, account, events } = prepared;
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
  const pauses = await pausesOf(client, events, ids, jobsAtOnce);
  const pickup = await measurePickup(setting, client, events);
  say(`Measuring: ${hours} hours of speech …`);
  const long = await transcribeBy({ ...client, audio: await openAsBlob(recording) }, prepared, service.pid);
  const idle = await measureWaiting(setting, database, service.pid, client, account.id);
  await service.stop();
  const own = await measureStarts(setting, account.key, database.url);
  await database.leave();
  const embedded = await measureStarts(setting, account.key);

  const measured: Measured = { hours, starts: { own, embedded }, pickup, pauses, long, idle };
  return {
    sizes: { hours, recognizer, backlog, 'jobs at once': jobsAtOnce, waits },
    checks: checksOf(measured),
    figures: [startsOf(measured), pickupsOf(measured), costsOf(measured)],
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

const p50 = (values: readonly number[]) => quantile(values, 0.5);

function checksOf({ hours, starts, pickup, pauses, long, idle }: Measured): Check[] {
  const start = (courses: Course[]) => courses.map((course) => course['npm start → /readyz']);
  const median = (which: keyof Wait) => pickup.map((round) => p50(round.map((wait) => wait[which])));
  const ms = (work: string, measure: string, values: number[], atMost: number): Check => ({
    ...{ work, measure, values, unit: 'ms', goal: { atMost } },
  });
  return [
    ms('start, own PostgreSQL', 'npm start → /readyz', start(starts.own), 1_000),
    ms('start, embedded PostgreSQL', 'npm start → /readyz', start(starts.embedded), 1_500),
    ms('202 → processing, idle worker', 'p50', median('accepted'), 15),
    ms('upload committed → processing', 'p50', median('queued'), 15),
    ms('stored → answered', 'p50', median('stored'), 10),
    ms('backlog: pause between two jobs', 'p50', [p50(pauses)], 100),
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

function startsOf({ starts }: Measured): Figures {
  const parts = Object.keys(starts.own[0]!) as (keyof Course)[];
  const row = (part: keyof Course) => [starts.own, starts.embedded].map((all) => p50(all.map((one) => one[part])));
  const rows = parts.map((part) => [part, ...row(part)]);
  return { title: 'Where a start’s time goes, median ms', head: ['part', 'own PostgreSQL', 'embedded'], rows };
}

function pickupsOf({ pickup, pauses }: Measured): Figures {
  const all = (which: keyof Wait) => pickup.flat().map((wait) => wait[which]);
  const row = (what: string, values: number[]) => [what, ...[0.5, 0.95, 1].map((q) => quantile(values, q))];
  return {
    title: 'Pick-up, all rounds, ms',
    head: ['what', 'p50', 'p95', 'most'],
    rows: [
      row('202 → processing, idle worker', all('accepted')),
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
      [`${waits} clients wait: % of a core of the service`, p50(idle.service)],
      [`${waits} clients wait: % of a core of PostgreSQL`, p50(idle.PostgreSQL)],
    ],
  };
}
