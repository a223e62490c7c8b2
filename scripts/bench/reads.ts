/** Reading: what most requests do. */
import { seedAccounts, seedSessions, seedTranscripts, settle, startDatabase } from './database.ts';
import { cpuOfTree } from './process-tree.ts';
import { cpuOf, startApiProgram, startProgram } from './program.ts';
import { interleaved } from './rounds.ts';
import { quantile, ratios } from './statistics.ts';
import { connections, load, requireWrk, writeTargets } from './wrk.ts';
import type { Bench, Check, Figures, Findings, Goal, Setting } from './bench.ts';
import type { BenchDatabase } from './database.ts';
import type { Program } from './program.ts';
import type { Load, Target } from './wrk.ts';

const segments = 100;

/** A load, and the CPU time that one request took, in µs. */
interface Figure extends Load {
  nodeMicros: number;
  postgresMicros: number;
}

type Contender = 'ours' | 'bare' | 'fastify' | 'full answer';
type Measured = Partial<Record<Contender, Figure[]>>;

const works = ['list of 20', 'one session', `transcript of ${segments} segments`, 'transcript poll, 304'] as const;
type Work = (typeof works)[number];

export const reads: Bench = {
  name: 'reads',
  summary: 'list, session, transcript and poll, against bare node:http + pg and against Fastify',
  run,
};

async function run(setting: Setting): Promise<Findings> {
  await requireWrk();
  const accounts = setting.sized({ full: 1_000, quick: 1_000, tiny: 2 });
  const sessions = accounts * setting.sized({ full: 1_000, quick: 20, tiny: 25 });
  const readSessions = setting.sized({ full: 20, quick: 4, tiny: 2 });
  const rounds = setting.sized({ full: 9, quick: 3, tiny: 1 });
  const seconds = setting.sized({ full: 4, quick: 1, tiny: 1 });

  setting.say('Starting PostgreSQL and making rows …');
  const database = await startDatabase(setting);
  const owners = await seedAccounts(database, accounts);
  await seedSessions(database, sessions);
  const seeded = await seedTranscripts(database, readSessions, segments);
  await seedSegmentRows(database);
  await settle(database);

  const programs = await startContenders(setting, database);
  const keys = new Map(owners.map(({ id, key }) => [id, key]));
  const raw: Partial<Record<Work, Measured>> = {};
  for (const work of works) {
    setting.say(`Measuring: ${work} …`);
    const contenders: Partial<Record<Contender, () => Promise<Figure>>> = {};
    for (const name of contendersOf(work)) {
      const program = name === 'full answer' ? programs.ours : programs[name];
      const targets = seeded.map(({ account_id, id, version }): Target => {
        const isOurs = program === programs.ours;
        const who = isOurs ? { Authorization: `Bearer ${keys.get(account_id)}` } : { 'X-Account': account_id };
        const tag = work === 'transcript poll, 304' && name === 'ours' && { 'If-None-Match': `W/"${version}.json"` };
        return { path: pathOf(work, id), headers: { ...who, ...tag } };
      });
      const file = await writeTargets(setting, `${works.indexOf(work)}-${name.replace(' ', '-')}`, targets);
      contenders[name] = () => measure(setting, program, database, file, seconds);
    }
    raw[work] = await interleaved(setting, rounds, contenders as Record<Contender, () => Promise<Figure>>);
  }
  const measured = raw as Record<Work, Measured>;
  return {
    sizes: { accounts, sessions, transcripts: seeded.length, segments, rounds, seconds, connections },
    checks: checksOf(measured),
    figures: [figuresOf(measured)],
    raw,
  };
}

/** Rows for Fastify, which keeps a row for each segment. */
async function seedSegmentRows({ query }: BenchDatabase): Promise<void> {
  await query(`create table bench_segments as
    select session_id, (s->>'index')::int as index, (s->>'startMs')::int as start_ms, (s->>'endMs')::int as end_ms,
      s->>'text' as text, (s->>'confidence')::real as confidence
    from transcripts cross join lateral json_array_elements(segments) as s`);
  await query('alter table bench_segments add primary key (session_id, index)');
}

async function startContenders(setting: Setting, { url }: BenchDatabase) {
  const env = { DATABASE_URL: url, NODE_ENV: 'production' };
  const ours = await startApiProgram(setting, url, { NODE_ENV: 'production' });
  const bare = await startProgram(setting, { script: 'scripts/bench/baselines/bare.ts', env });
  const fastify = await startProgram(setting, { script: 'scripts/bench/baselines/fastify.ts', env });
  return { ours, bare, fastify };
}

const contendersOf = (work: Work): Contender[] =>
  work === 'transcript poll, 304' ? ['ours', 'full answer'] : ['ours', 'bare', 'fastify'];

function pathOf(work: Work, id: string): string {
  if (work === 'list of 20') return '/v1/sessions?limit=20';
  return work === 'one session' ? `/v1/sessions/${id}` : `/v1/sessions/${id}/transcript`;
}

async function measure(
  setting: Setting,
  { pid, url }: Program,
  database: BenchDatabase,
  targets: string,
  seconds: number,
): Promise<Figure> {
  const before = { node: cpuOf(pid), postgres: cpuOfTree(database.pid) };
  const figures = await load(setting, url, targets, seconds);
  if (figures.failures > 0) throw new Error(`${figures.failures} of ${figures.requests} requests failed at ${url}`);
  const perRequest = (ms: number) => (ms * 1000) / figures.requests;
  return {
    ...figures,
    nodeMicros: perRequest(cpuOf(pid) - before.node),
    postgresMicros: perRequest(cpuOfTree(database.pid) - before.postgres),
  };
}

type Measure = 'perSecond' | 'p99Ms' | 'nodeMicros';
const measureNames: Record<Measure, string> = {
  ...{ perSecond: 'requests/s', p99Ms: 'p99', nodeMicros: 'CPU of Node per request' },
};

/** The goals of the project, in its own words. */
const goals: [Work, Measure, Contender, Goal][] = [
  ['list of 20', 'perSecond', 'bare', { atLeast: 0.8, aim: 0.9 }],
  ['list of 20', 'perSecond', 'fastify', { atLeast: 1.1 }],
  ['list of 20', 'p99Ms', 'bare', { atMost: 1.5 }],
  ['one session', 'perSecond', 'bare', { atLeast: 0.75, aim: 0.9 }],
  [`transcript of ${segments} segments`, 'perSecond', 'bare', { atLeast: 0.75, aim: 0.9 }],
  [`transcript of ${segments} segments`, 'perSecond', 'fastify', { atLeast: 2.5 }],
  ['transcript poll, 304', 'perSecond', 'full answer', { atLeast: 2 }],
  ['transcript poll, 304', 'nodeMicros', 'full answer', { atMost: 0.6 }],
];

function checksOf(measured: Record<Work, Measured>): Check[] {
  return goals.map(([work, measure, other, goal]) => {
    const of = (name: Contender) => measured[work][name]!.map((figure) => figure[measure]);
    return { work, measure: `${measureNames[measure]} ÷ ${other}`, values: ratios(of('ours'), of(other)), goal };
  });
}

function figuresOf(measured: Record<Work, Measured>): Figures {
  const columns = ['perSecond', 'p50Ms', 'p99Ms', 'nodeMicros', 'postgresMicros'] as const;
  const rows = works.flatMap((work) =>
    Object.entries(measured[work]).map(([name, figures]) => [
      ...[work, name],
      ...columns.map((column) =>
        quantile(
          figures.map((figure) => figure[column]),
          0.5,
        ),
      ),
    ]),
  );
  const head = ['work', 'server', 'requests/s', 'p50 ms', 'p99 ms', 'Node µs/request', 'PostgreSQL µs/request'];
  return { title: 'Medians of all rounds', head, rows };
}
