/** The first answer: how long people and supervisors wait from `npm start` until the service serves, and where that goes. */
import { readFile } from 'node:fs/promises';
import { seedAccounts, settle, startDatabase } from './database.ts';
import { serviceEnv, startProgram } from './program.ts';
import { quantile } from './statistics.ts';
import type { Bench, Check, Figures, Findings, Setting } from './bench.ts';

export const start: Bench = {
  name: 'start',
  summary: 'npm start → /readyz and the first request, with a PostgreSQL of your own and with the embedded one',
  run,
};

/** All in ms, each from the one before. */
interface Course {
  'npm start → the first line of the log': number;
  '→ the API answers': number;
  '→ /readyz answers 200': number;
  'npm start → /readyz': number;
  'the first request': number;
  'the tenth request': number;
}

const databases = ['own PostgreSQL', 'embedded PostgreSQL'] as const;
type Kind = (typeof databases)[number];

async function run(setting: Setting): Promise<Findings> {
  const rounds = setting.sized({ full: 10, quick: 4, tiny: 1 });
  setting.say('Starting PostgreSQL …');
  // Where the service keeps its own, so that it is the same cluster that it starts when nobody else has.
  const dataDir = serviceEnv(setting, '').DATA_DIR!;
  const database = await startDatabase(setting, dataDir);
  const [account] = await seedAccounts(database, 1);
  await settle(database);

  const measured = {} as Record<Kind, Course[]>;
  for (const kind of databases) {
    if (kind === 'embedded PostgreSQL') await database.leave();
    measured[kind] = [];
    // The first start fills the caches of the compiler and the disk.
    for (let round = setting.size === 'tiny' ? 0 : -1; round < rounds; round += 1) {
      setting.say(`Measuring: ${kind}, start ${Math.max(1, round + 1)} of ${rounds} …`);
      const course = await startOnce(setting, kind === 'own PostgreSQL' ? database.url : undefined, account!.key);
      if (round >= 0) measured[kind].push(course);
    }
  }
  return { sizes: { rounds }, checks: checksOf(measured), figures: [figuresOf(measured)], raw: measured };
}

async function startOnce(setting: Setting, url: string | undefined, key: string): Promise<Course> {
  const { DATABASE_URL: _, ...env } = serviceEnv(setting, url ?? '');
  const [began, beganAt] = [performance.now(), Date.now()];
  const service = await startProgram(setting, {
    script: 'src/start.ts',
    byNpm: 'start',
    env: { ...env, ...(url !== undefined && { DATABASE_URL: url }) },
  });
  const ready = performance.now() - began;
  const ask = async () => {
    const asked = performance.now();
    const response = await fetch(`${service.url}/v1/sessions`, { headers: { Authorization: `Bearer ${key}` } });
    await response.text();
    if (response.status !== 200) throw new Error(`the first requests were answered ${response.status}`);
    return performance.now() - asked;
  };
  const requests: number[] = [];
  while (requests.length < 10) requests.push(await ask());
  const lines = (await readFile(service.logFile, 'utf8')).split('\n').filter((line) => line.startsWith('{'));
  const events = lines.map((line) => JSON.parse(line) as { time: number; msg: string });
  const at = (message?: string) => events.find(({ msg }) => message === undefined || msg === message)!.time - beganAt;
  await service.stop();
  return {
    'npm start → the first line of the log': at(),
    '→ the API answers': at('api answers') - at(),
    '→ /readyz answers 200': ready - at('api answers'),
    'npm start → /readyz': ready,
    'the first request': requests[0]!,
    'the tenth request': requests[9]!,
  };
}

function checksOf(measured: Record<Kind, Course[]>): Check[] {
  const goals: Record<Kind, number> = { 'own PostgreSQL': 1_000, 'embedded PostgreSQL': 1_500 };
  return databases.map((kind) => ({
    work: kind,
    measure: 'npm start → /readyz',
    unit: 'ms',
    values: measured[kind].map((course) => course['npm start → /readyz']),
    goal: { atMost: goals[kind] },
  }));
}

function figuresOf(measured: Record<Kind, Course[]>): Figures {
  const parts = Object.keys(measured['own PostgreSQL'][0]!) as (keyof Course)[];
  const rows = parts.map((part) => [
    part,
    ...databases.map((kind) =>
      quantile(
        measured[kind].map((course) => course[part]),
        0.5,
      ),
    ),
  ]);
  return { title: 'Where the time goes, median ms', head: ['part', ...databases], rows };
}
