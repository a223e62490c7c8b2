/** Many worker processes on one PostgreSQL: what taking jobs costs it, and how long accounts wait. */
import { setTimeout as sleep } from 'node:timers/promises';
import { addDatabase, seedAccounts, settle, startDatabase } from './database.ts';
import { hearEndings, openUploads, seedWaiting } from './fleet-uploads.ts';
import { places } from './fleet-sizes.ts';
import { cpuOfTree } from './process-tree.ts';
import { startProgram } from './program.ts';
import { interleaved } from './rounds.ts';
import { checksOf, tableOf } from './fleet-findings.ts';
import { quantile } from './statistics.ts';
import type { Bench, Findings, Setting } from './bench.ts';
import type { Figure } from './fleet-findings.ts';
import type { BenchDatabase } from './database.ts';
import type { Upload } from './fleet-uploads.ts';
import type { Fetches } from './fleet-sizes.ts';
import type { Program } from './program.ts';

export const fleet: Bench = {
  name: 'fleet',
  summary: 'up to 100 worker processes whose recognizer only waits: jobs/s, pick-up, fetches, PostgreSQL, turns',
  run,
};

const heavyAccounts = 20;
/** How many jobs of a heavy account run at once. */
const limit = 2;
/** How often another account uploads a single recording. */
const lightEveryMs = 500;
/** More processes are too much for two cores; each of Node's then holds several workers. */
const nodes = 4;
/** Each worker has up to seven connections. */
const maxConnections = 1_000;

/** How long the recognizer waits. */
const jobMsOf = (setting: Setting) => setting.sized({ full: 3_000, quick: 3_000, tiny: 200 });

async function run(setting: Setting): Promise<Findings> {
  const fleets = setting.sized({ full: [1, 10, 100], quick: [1, 10, 100], tiny: [3] });
  const backlogs = setting.sized({ full: [10, 10_000, 100_000], quick: [10, 10_000], tiny: [100] });
  const rounds = setting.sized({ full: 2, quick: 1, tiny: 1 });
  const seconds = setting.sized({ full: 12, quick: 6, tiny: 3 });
  const jobMs = jobMsOf(setting);
  setting.say('Starting PostgreSQL …');
  const server = await startDatabase(setting, setting.folder, maxConnections);
  const cases = fleets.flatMap((workers) => backlogs.map((waiting) => ({ workers, waiting })));
  const nameOf = ({ workers, waiting }: (typeof cases)[number]) =>
    `${workers.toLocaleString('en')} × ${places} places, ${waiting.toLocaleString('en')} waiting`;
  let count = 0;
  const figures = await interleaved<Record<string, Figure>>(
    setting,
    rounds,
    Object.fromEntries(
      cases.map((each) => [
        nameOf(each),
        () => {
          setting.say(`Measuring: ${nameOf(each)} …`);
          return measure(setting, server, `fleet_${(count += 1)}`, each.workers, each.waiting, seconds);
        },
      ]),
    ),
    0,
  );
  const judged = nameOf({ workers: 100, waiting: 10_000 });
  const checks = Object.entries(figures).flatMap(([name, each]) => checksOf(name, each, name === judged));
  const sizes = {
    ...{ rounds, seconds, 'ms of a job': jobMs, 'heavy accounts': heavyAccounts, 'jobs at once of each': limit },
    'uploads of a light account per second': 1_000 / lightEveryMs,
  };
  return { sizes, checks, figures: [tableOf(figures)], raw: figures };
}

async function measure(
  setting: Setting,
  server: BenchDatabase,
  name: string,
  workers: number,
  waiting: number,
  seconds: number,
): Promise<Figure> {
  const database = await addDatabase(setting, server, name);
  const { upload, close } = await openUploads(database);
  const accounts = (await seedAccounts(database, heavyAccounts + 1)).map(({ id }) => id);
  const [light, ...heavy] = accounts as [string, ...string[]];
  await database.query('update accounts set running_jobs = $1 where id <> $2', [limit, light]);
  // Those of these that can't run at once wait with the others.
  for (const account of heavy.slice(0, waiting)) await upload(account);
  if (waiting > heavyAccounts) await seedWaiting(database, heavy, waiting);
  await settle(database);
  const clients = await keepUploading(database, upload, light, heavy);
  const programs = await startFleet(setting, database, workers);
  clients.beginLight();
  try {
    await sleep(setting.sized({ full: 5_000, quick: 3_000, tiny: 500 }), undefined, { signal: setting.signal });
    const before = await look(programs, server, database);
    await sleep(seconds * 1_000, undefined, { signal: setting.signal });
    return await figureOf(database, light, before, await look(programs, server, database));
  } finally {
    await clients.end();
    await Promise.all(programs.map((program) => program.stop()));
    await close();
  }
}

function startFleet(setting: Setting, { url }: BenchDatabase, workers: number): Promise<Program[]> {
  const programs = Math.min(nodes, workers);
  return Promise.all(
    Array.from({ length: programs }, (_, index) => {
      const share = Math.floor(workers / programs) + (index < workers % programs ? 1 : 0);
      const env = { DATABASE_URL: url, FLEET_WORKERS: String(share), FLEET_JOB_MS: String(jobMsOf(setting)) };
      return startProgram(setting, { script: 'scripts/bench/fleet-workers.ts', env });
    }),
  );
}

/** As many jobs wait all the time: for each that ends, the next heavy account uploads. */
async function keepUploading(database: BenchDatabase, upload: Upload, light: string, heavy: readonly string[]) {
  const ofLight = new Set<string>();
  const running = new Set<Promise<unknown>>();
  const failures: unknown[] = [];
  const begin = (accountId: string, then?: (id: string) => void) => {
    const done = upload(accountId)
      .then(then, (error: unknown) => void failures.push(error))
      .finally(() => running.delete(done));
    running.add(done);
  };
  let next = 0;
  const stopHearing = await hearEndings(database, (id) => {
    if (!ofLight.delete(id)) begin(heavy[(next += 1) % heavy.length]!);
  });
  let timer: NodeJS.Timeout | undefined;
  return {
    beginLight() {
      timer = setInterval(() => begin(light, (id) => ofLight.add(id)), lightEveryMs);
    },
    async end() {
      clearInterval(timer);
      await stopHearing();
      await Promise.all(running);
      if (failures.length > 0) throw failures[0];
    },
  };
}

interface Look {
  /** When, by the database's clock. */
  at: string;
  cpuMs: number;
  fetches: Fetches;
}

async function look(programs: readonly Program[], server: BenchDatabase, { query }: BenchDatabase): Promise<Look> {
  const cpuMs = cpuOfTree(server.pid);
  const each = await Promise.all(programs.map(async ({ url }) => (await (await fetch(url)).json()) as Fetches));
  const sum = (which: keyof Fetches) => each.reduce((total, fetches) => total + fetches[which], 0);
  const [{ at } = { at: '' }] = await query<{ at: string }>('select clock_timestamp()::text as at');
  return { at, cpuMs, fetches: { all: sum('all'), empty: sum('empty') } };
}

async function figureOf({ query }: BenchDatabase, light: string, before: Look, after: Look): Promise<Figure> {
  const [row] = await query<{ jobs: number; seconds: number; light: number[]; heavy: number[] }>(
    `with claimed as (
       select account_id = $1 as light, (extract(epoch from started_at - created_at) * 1000)::float8 as ms from sessions
       where started_at between $2::timestamptz and $3::timestamptz
     )
     select (select count(*)::int from sessions where completed_at between $2 and $3) as jobs,
       extract(epoch from $3::timestamptz - $2::timestamptz)::float8 as seconds,
       (select coalesce(array_agg(ms) filter (where light), '{}') from claimed) as light,
       (select coalesce(array_agg(ms) filter (where not light), '{}') from claimed) as heavy`,
    [light, before.at, after.at],
  );
  const { jobs, seconds, light: ofLight, heavy } = row!;
  const cpuMs = after.cpuMs - before.cpuMs;
  const fetched = (which: keyof Fetches) => (after.fetches[which] - before.fetches[which]) / jobs;
  return {
    ...{ jobsPerSecond: jobs / seconds, fetchesPerJob: fetched('all'), emptyPerJob: fetched('empty') },
    ...{ cores: cpuMs / seconds / 1_000, cpuMsPerJob: cpuMs / jobs },
    light: { p50: quantile(ofLight, 0.5), p95: quantile(ofLight, 0.95), p99: quantile(ofLight, 0.99) },
    heavy: { p50: quantile(heavy, 0.5) },
  };
}
