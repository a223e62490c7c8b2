/** Reading: what most requests do, by one client that asks alone and by crowds, of many accounts. */
import { seedAccounts, seedSessions, seedTranscripts, settle, startDatabase } from './database.ts';
import { startApiProgram, startProgram } from './program.ts';
import { interleaved, median, ratios } from './statistics.ts';
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Bench, Check, Figures, Findings, Goal, Setting } from './bench.ts';
import type { BenchAccount } from './database.ts';
import type { Program } from './program.ts';

const segments = 100;
const works = ['list of 20', 'one session', 'transcript of 100 segments', 'transcript poll, 304'] as const;
const contenders = ['ours', 'bare'] as const;

type Work = (typeof works)[number];
type Contender = (typeof contenders)[number];

/** What is asked for, and by how many. */
interface Cell {
  work: Work;
  connections: number;
}

interface Measured extends Cell {
  figures: Record<Contender, Load[]>;
}

export const reads: Bench = {
  name: 'reads',
  summary: 'list, session, transcript and poll by 1 to 200 clients, against bare node:http + pg',
  run,
};

async function run(setting: Setting): Promise<Findings> {
  await requireWrk();
  const accounts = setting.sized({ full: 1_000, quick: 1_000, tiny: 2 });
  const sessions = accounts * setting.sized({ full: 1_000, quick: 20, tiny: 25 });
  const readSessions = setting.sized({ full: 20, quick: 4, tiny: 2 });
  const rounds = setting.sized({ full: 5, quick: 1, tiny: 1 });
  const seconds = setting.sized({ full: 2, quick: 0.3, tiny: 0.3 });
  const warmUpSeconds = setting.sized({ full: 5, quick: 0.5, tiny: 0.1 });
  const connections = setting.sized({ full: [1, 4, 32, 200], quick: [1, 4, 32, 200], tiny: [4] });

  setting.say('Starting PostgreSQL and making rows …');
  const database = await startDatabase(setting);
  const holders = await seedAccounts(database, accounts);
  await seedSessions(database, sessions);
  const seeded = await seedTranscripts(database, readSessions, segments);
  await settle(database);

  const env = { DATABASE_URL: database.url, NODE_ENV: 'production' };
  const programs: Record<Contender, Program> = {
    ours: await startApiProgram(setting, database.url),
    bare: await startProgram(setting, { script: 'scripts/bench/baselines/bare.ts', env }),
  };
  const cells = works.flatMap((work) => connections.map((count): Cell => ({ work, connections: count })));
  const measured: Measured[] = [];
  for (const cell of cells) {
    setting.say(`Measuring: ${cell.work}, connections: ${cell.connections} …`);
    const prepare = async (name: Contender) => {
      const file = await writeTargets(setting, name, targetsOf(cell, name, seeded, holders));
      // Once for each work, and by one client: a crowd lets PostgreSQL keep plans that it would not make for one.
      if (cell.connections === connections[0]) await load(setting, programs[name].url, file, warmUpSeconds, 1);
      return () => load(setting, programs[name].url, file, seconds, cell.connections);
    };
    const turns = { ours: await prepare('ours'), bare: await prepare('bare') };
    measured.push({ ...cell, figures: await interleaved(setting, rounds, turns, 0) });
  }
  return {
    sizes: {
      ...{ accounts, sessions, transcripts: seeded.length, segments, rounds, seconds },
      connections: connections.join(', '),
    },
    checks: checksOf(measured),
    figures: [figuresOf(measured)],
    raw: measured,
  };
}

function targetsOf(
  { work }: Cell,
  contender: Contender,
  wanted: readonly { account_id: string; id: string; version: string }[],
  holders: readonly BenchAccount[],
): Target[] {
  const keys = new Map(holders.map(({ id, key }) => [id, key]));
  return wanted.map(({ account_id: account, id, version }) => ({
    path: pathOf(work, id),
    headers: {
      ...(contender === 'bare' ? { 'X-Account': account } : { Authorization: `Bearer ${keys.get(account)}` }),
      ...(work === 'transcript poll, 304' && { 'If-None-Match': `W/"${version}.json"` }),
    },
  }));
}

function pathOf(work: Work, id: string): string {
  if (work === 'list of 20') return '/v1/sessions?limit=20';
  return work === 'one session' ? `/v1/sessions/${id}` : `/v1/sessions/${id}/transcript`;
}

type Measure = 'requests/s' | 'p99';

/** The goals of the project, for every work and number of connections. */
const goals: [Measure, Goal][] = [
  ['requests/s', { atLeast: 0.7 }],
  ['p99', { atMost: 2 }],
];

/** Ours ÷ bare, round by round. */
function compared({ figures }: Measured, measure: Measure): number[] {
  const of = (name: Contender) => figures[name].map(({ perSecond, p99Ms }) => (measure === 'p99' ? p99Ms : perSecond));
  return ratios(of('ours'), of('bare'));
}

/** Of each work, where it does worst. */
function checksOf(measured: readonly Measured[]): Check[] {
  return works.flatMap((work) =>
    goals.map(([measure, goal]) => {
      const from = measured
        .filter((cell) => cell.work === work)
        .map((cell) => ({ cell, values: compared(cell, measure) }))
        .sort((a, b) => (median(a.values) - median(b.values)) * (measure === 'p99' ? -1 : 1));
      const { cell, values } = from[0]!;
      return { work: `${work}, connections: ${cell.connections}`, measure: `${measure} ÷ bare`, values, goal };
    }),
  );
}

function figuresOf(measured: readonly Measured[]): Figures {
  const perSecond = ({ figures }: Measured) =>
    contenders.map((name) => Math.round(median(figures[name].map((load) => load.perSecond))));
  return {
    title: 'Medians of all rounds',
    head: ['work', 'connections', 'requests/s ÷ bare', 'p99 ÷ bare', 'ours, requests/s', 'bare, requests/s'],
    rows: measured.map((cell) => [
      ...[cell.work, cell.connections],
      ...goals.map(([measure]) => median(compared(cell, measure))),
      ...perSecond(cell),
    ]),
  };
}

const execute = promisify(execFile);

interface Target {
  path: string;
  headers: Record<string, string>;
}

interface Load {
  perSecond: number;
  p99Ms: number;
}

/** Each request goes to one of the targets, at random. wrk prepares them before it begins. */
const lua = `
local requests = {}
function init(args)
  math.randomseed(os.time())
  for line in io.lines(args[1]) do
    local path, names = line:match("^(%S+)\\t(.*)$")
    local headers = {}
    for name, value in names:gmatch("([^\\t:]+): ([^\\t]*)") do headers[name] = value end
    requests[#requests + 1] = wrk.format("GET", path, headers)
  end
end
function request() return requests[math.random(#requests)] end
function done(summary, latency)
  local e = summary.errors
  io.write(string.format("FIGURES %d %d %d %d\\n", summary.requests, summary.duration, latency:percentile(99),
    e.connect + e.read + e.write + e.status + e.timeout))
end
`;

/** @throws with what to type when wrk is not installed */
async function requireWrk(): Promise<void> {
  await execute('wrk', ['-v']).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT')
      throw new Error('wrk is missing. Type this, then run the bench again:\n  apt-get install wrk');
  });
}

/** Writes the targets of one contender where {@link load} finds them. @returns the file */
async function writeTargets({ folder }: Setting, name: string, targets: readonly Target[]): Promise<string> {
  const file = `${folder}/${name}.targets`;
  const lines = targets.map(({ path, headers }) =>
    [path, ...Object.entries(headers).map(([header, value]) => `${header}: ${value}`)].join('\t'),
  );
  await writeFile(file, `${lines.join('\n')}\n`);
  await writeFile(`${folder}/targets.lua`, lua);
  return file;
}

/**
 * Loads a server for some seconds, by so many connections that always ask.
 * @throws when it answers something else than 2xx and 304, or breaks a connection
 */
async function load(
  { folder, signal }: Setting,
  url: string,
  targets: string,
  seconds: number,
  connections: number,
): Promise<Load> {
  const script = ['-s', `${folder}/targets.lua`, url, '--', targets];
  const args = ['-t1', `-c${connections}`, `-d${Math.ceil(seconds)}s`, '--timeout', '10s', ...script];
  const running = execute('wrk', args, { signal });
  // wrk knows whole seconds only; interrupted, it prints what it has counted.
  const timer = setTimeout(() => running.child.kill('SIGINT'), seconds * 1000);
  const { stdout } = await running.finally(() => clearTimeout(timer));
  const figures = /FIGURES (.*)/.exec(stdout)?.[1]?.split(' ').map(Number);
  if (figures === undefined) throw new Error(`wrk told no figures:\n${stdout}`);
  const [requests = 0, micros = 0, p99 = 0, failures = 0] = figures;
  if (failures > 0) throw new Error(`${failures} of ${requests} requests failed at ${url}`);
  return { perSecond: requests / (micros / 1e6), p99Ms: p99 / 1000 };
}
