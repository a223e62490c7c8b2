/** How long an upload waits for an idle worker, and how long its client waits for the answer after it was stored. */
import { seedAccounts, settle, startDatabase } from './database.ts';
import { serviceEnv, startProgram } from './program.ts';
import { makeSpeech, send, untilAnswered } from './session-client.ts';
import { watchSessions } from './session-events.ts';
import { quantile } from './statistics.ts';
import type { Bench, Check, Figures, Findings, Setting } from './bench.ts';
import type { Client } from './session-client.ts';
import type { SessionEvent, SessionEvents } from './session-events.ts';

const workerConcurrency = 2;

export const pickup: Bench = {
  name: 'pickup',
  summary: '202 → processing and stored → answered, with an idle worker and with a backlog',
  run,
};

/** All in ms. */
interface Wait {
  /** From the client's 202 to the commit of the claim. Negative when the worker was faster than the answer. */
  accepted: number;
  /** From the commit of the upload to the commit of the claim. */
  queued: number;
  /** From the beginning of the transaction that stores the transcript, right after the last word, to the client's answer. */
  lastWord: number;
  /** From the commit of that transaction to the client's answer. */
  stored: number;
}

async function run(setting: Setting): Promise<Findings> {
  const rounds = setting.sized({ full: 5, quick: 3, tiny: 1 });
  const perRound = setting.sized({ full: 20, quick: 5, tiny: 1 });
  const backlog = setting.sized({ full: 200, quick: 20, tiny: 4 });

  setting.say('Starting PostgreSQL and the service …');
  const database = await startDatabase(setting);
  const [account] = await seedAccounts(database, 1);
  await settle(database);
  const events = await watchSessions(setting, database);
  const env = { ...serviceEnv(setting, database.url), WORKER_CONCURRENCY: String(workerConcurrency) };
  const audio = await makeSpeech(setting);
  const service = await startProgram(setting, { script: 'src/start.ts', env });
  const client: Client = { url: service.url, key: account!.key, audio, signal: setting.signal };
  await one(client, events);

  const idle: Wait[][] = [];
  for (let round = 0; round < rounds; round += 1) {
    setting.say(`Measuring: one upload at a time, round ${round + 1} of ${rounds} …`);
    const waits: Wait[] = [];
    while (waits.length < perRound) {
      setting.signal.throwIfAborted();
      waits.push(await one(client, events));
    }
    idle.push(waits);
  }
  await service.stop();
  setting.say(`Measuring: a backlog of ${backlog} …`);
  const drained = await drain(setting, client, events, env, backlog);
  const sizes = { rounds, 'uploads per round': perRound, backlog, 'jobs at once': workerConcurrency };
  return { sizes, checks: checksOf(idle, drained), figures: [figuresOf(idle, drained)], raw: { idle, drained } };
}

/** Uploads one clip to an idle worker and waits for it. */
async function one(client: Client, events: SessionEvents): Promise<Wait> {
  const { id, acceptedAt } = await send(client);
  const answeredAt = await untilAnswered(client, id);
  const of = (status: string) => events.find((event) => event.id === id && event.status === status);
  const [queued, processing, completed] = [await of('queued'), await of('processing'), await of('completed')];
  return {
    accepted: processing.at - acceptedAt,
    queued: processing.at - queued.at,
    lastWord: answeredAt - completed.beganAt,
    stored: answeredAt - completed.at,
  };
}

interface Drained {
  /** From the end of one job to the beginning of the next one in its place. */
  pauses: number[];
  stored: number[];
  lastWord: number[];
  /** From the first claim to the last end, divided by the number of jobs. */
  perJob: number;
}

/** Works off a backlog that is there when the worker starts. A client waits for each session. */
async function drain(
  setting: Setting,
  client: Client,
  events: SessionEvents,
  env: Record<string, string>,
  backlog: number,
): Promise<Drained> {
  const api = await startProgram(setting, { script: 'src/start-api.ts', env });
  const clientOfApi = { ...client, url: api.url };
  const ids: string[] = [];
  while (ids.length < backlog) ids.push((await send(clientOfApi)).id);
  const { all, find } = events;
  const answers = ids.map((id) => untilAnswered(clientOfApi, id));
  await startProgram(setting, { script: 'src/start-worker.ts', env, answersOn: 'OPS_PORT' });
  const answered = await Promise.all(answers);
  const completed = await Promise.all(
    ids.map((id) => find((event) => event.id === id && event.status === 'completed')),
  );
  const ours = new Set(ids);
  const began = all.filter(({ id, status }) => ours.has(id) && status === 'processing');
  const ended = all.filter(({ id, status }) => ours.has(id) && status === 'completed');
  return {
    pauses: pausesOf(began, ended),
    stored: completed.map(({ at }, index) => answered[index]! - at),
    lastWord: completed.map(({ beganAt }, index) => answered[index]! - beganAt),
    perJob: (ended.at(-1)!.at - began[0]!.at) / ids.length,
  };
}

/** The worker runs as many jobs at once as it may. Each job that ends makes room for the next one. */
function pausesOf(began: SessionEvent[], ended: SessionEvent[]): number[] {
  return began.slice(workerConcurrency).map(({ at }, index) => at - ended[index]!.at);
}

function checksOf(idle: Wait[][], drained: Drained): Check[] {
  const median = (which: keyof Wait) =>
    idle.map((waits) =>
      quantile(
        waits.map((wait) => wait[which]),
        0.5,
      ),
    );
  const inMs = { unit: 'ms' };
  return [
    {
      work: '202 → processing, idle worker',
      measure: 'p50',
      values: median('accepted'),
      goal: { atMost: 15 },
      ...inMs,
    },
    { work: 'upload committed → processing', measure: 'p50', values: median('queued'), goal: { atMost: 15 }, ...inMs },
    { work: 'stored → answered', measure: 'p50', values: median('stored'), goal: { atMost: 10 }, ...inMs },
    { work: 'last word → answered, storing included', measure: 'p50', values: median('lastWord'), ...inMs },
    {
      ...{ work: 'backlog: pause between two jobs', measure: 'p50', values: [quantile(drained.pauses, 0.5)] },
      ...{ goal: { atMost: 100 }, ...inMs },
    },
  ];
}

function figuresOf(idle: Wait[][], drained: Drained): Figures {
  const all = (which: keyof Wait) => idle.flat().map((wait) => wait[which]);
  const row = (what: string, values: number[]) => [
    what,
    ...[0.5, 0.95, 1].map((q) => quantile(values, q)),
    values.length,
  ];
  return {
    title: 'All rounds, ms',
    head: ['what', 'p50', 'p95', 'most', 'count'],
    rows: [
      row('202 → processing, idle worker', all('accepted')),
      row('upload committed → processing, idle worker', all('queued')),
      row('stored → answered, idle worker', all('stored')),
      row('last word → answered, idle worker', all('lastWord')),
      row('stored → answered, backlog', drained.stored),
      row('last word → answered, backlog', drained.lastWord),
      row('pause between two jobs, backlog', drained.pauses),
      ['time per job, backlog', drained.perJob, '', '', drained.stored.length],
    ],
  };
}
