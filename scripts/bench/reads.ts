/** Reading: what most requests do, by one client that asks alone and by crowds, of one account and of many. */
import { seedAccounts, seedSessions, seedTranscripts, settle, startDatabase } from './database.ts';
import { cpuOfTree } from './process-tree.ts';
import { cpuOf, startApiProgram, startProgram } from './program.ts';
import { checksOf, figuresOf } from './reads-findings.ts';
import { interleaved } from './rounds.ts';
import { load, requireWrk, writeTargets } from './wrk.ts';
import type { Bench, Findings, Setting } from './bench.ts';
import type { BenchAccount, BenchDatabase } from './database.ts';
import type { Program } from './program.ts';
import type { Cell, Contender, Figure, Measured, Owners, Work } from './reads-findings.ts';
import type { Target } from './wrk.ts';

const segments = 100;
const works: Work[] = ['list of 20', 'one session', 'transcript of 100 segments', 'transcript poll, 304'];

export const reads: Bench = {
  name: 'reads',
  summary: 'list, session, transcript and poll by 1 to 200 clients, against bare node:http + pg and against Fastify',
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
  const owners = setting.sized<Owners[]>({
    full: ['many accounts', 'one account'],
    quick: ['many accounts', 'one account'],
    tiny: ['many accounts'],
  });

  setting.say('Starting PostgreSQL and making rows …');
  const database = await startDatabase(setting);
  const holders = await seedAccounts(database, accounts);
  await seedSessions(database, sessions);
  const seeded = await seedTranscripts(database, readSessions, segments);
  await seedSegmentRows(database);
  await settle(database);

  const programs = await startContenders(setting, database);
  const measured: Measured[] = [];
  for (const work of works) {
    for (const cell of owners.flatMap((who) =>
      connections.map((count): Cell => ({ work, owners: who, connections: count })),
    )) {
      setting.say(`Measuring: ${work}, ${cell.owners}, connections: ${cell.connections} …`);
      const wanted =
        cell.owners === 'one account' ? seeded.filter(({ account_id: id }) => id === holders[0]!.id) : seeded;
      const contenders: Partial<Record<Contender, () => Promise<Figure>>> = {};
      for (const name of contendersOf(work)) {
        const file = await writeTargets(setting, name.replace(' ', '-'), targetsOf(cell, name, wanted, holders));
        const program = programs[name === 'one session' ? 'ours' : name];
        // Once for each work, and by one client: a crowd lets PostgreSQL keep plans that it would not make for one.
        if (cell.connections === connections[0]) await load(setting, program.url, file, warmUpSeconds, 1);
        contenders[name] = () => measure(setting, program, database, { file, seconds, connections: cell.connections });
      }
      const figures = await interleaved(setting, rounds, contenders as Record<Contender, () => Promise<Figure>>, 0);
      measured.push({ ...cell, figures });
    }
  }
  return {
    sizes: {
      accounts,
      sessions,
      transcripts: seeded.length,
      segments,
      rounds,
      seconds,
      connections: connections.join(', '),
    },
    checks: checksOf(measured),
    figures: figuresOf(measured),
    raw: measured,
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
  const start = (script: string, more: object = {}) => startProgram(setting, { script, env: { ...env, ...more } });
  const [ours, bare, plain, equal] = await Promise.all([
    startApiProgram(setting, url, { NODE_ENV: 'production' }),
    start('scripts/bench/baselines/bare.ts'),
    start('scripts/bench/baselines/fastify.ts'),
    start('scripts/bench/baselines/fastify.ts', { EQUAL_WORK: '1' }),
  ]);
  return { ours, bare, Fastify: plain, 'equal work': equal };
}

const contendersOf = (work: Work): Contender[] => {
  const all: Contender[] = ['ours', 'bare', 'Fastify', 'equal work'];
  return work === 'transcript poll, 304' ? [...all, 'one session'] : all;
};

function targetsOf(
  { work }: Cell,
  contender: Contender,
  wanted: readonly { account_id: string; id: string; version: string }[],
  holders: readonly BenchAccount[],
): Target[] {
  const keys = new Map(holders.map(({ id, key }) => [id, key]));
  const knowsKeys = contender !== 'bare' && contender !== 'Fastify';
  const isPoll = work === 'transcript poll, 304' && contender !== 'one session';
  return wanted.map(({ account_id: account, id, version }) => ({
    path: pathOf(contender === 'one session' ? contender : work, id),
    headers: {
      ...(knowsKeys ? { Authorization: `Bearer ${keys.get(account)}` } : { 'X-Account': account }),
      ...(isPoll && { 'If-None-Match': `W/"${version}.json"` }),
    },
  }));
}

function pathOf(work: Work, id: string): string {
  if (work === 'list of 20') return '/v1/sessions?limit=20';
  return work === 'one session' ? `/v1/sessions/${id}` : `/v1/sessions/${id}/transcript`;
}

async function measure(
  setting: Setting,
  { pid, url }: Program,
  database: BenchDatabase,
  { file, seconds, connections }: { file: string; seconds: number; connections: number },
): Promise<Figure> {
  const before = { node: cpuOf(pid), postgres: cpuOfTree(database.pid) };
  const figures = await load(setting, url, file, seconds, connections);
  if (figures.failures > 0) throw new Error(`${figures.failures} of ${figures.requests} requests failed at ${url}`);
  const perRequest = (ms: number) => (ms * 1000) / figures.requests;
  return {
    ...figures,
    nodeMicros: perRequest(cpuOf(pid) - before.node),
    postgresMicros: perRequest(cpuOfTree(database.pid) - before.postgres),
  };
}
