/** Reading from one process and from several on the same port: what `API_PROCESSES` gains on this machine. */
import { availableParallelism } from 'node:os';
import { seedAccounts, seedSessions, seedTranscripts, settle, startDatabase } from './database.ts';
import { startApiProgram } from './program.ts';
import { interleaved } from './rounds.ts';
import { quantile, ratios } from './statistics.ts';
import { load, requireWrk, writeTargets } from './wrk.ts';
import type { Bench, Findings, Setting } from './bench.ts';
import type { Target } from './wrk.ts';

export const processes: Bench = {
  name: 'processes',
  summary: 'the same reads from one process of the API, and from one for each core (API_PROCESSES)',
  run,
};

const segments = 100;
const works = {
  'list of 20': () => '/v1/sessions?limit=20',
  'one session': (id: string) => `/v1/sessions/${id}`,
  'transcript of 100 segments': (id: string) => `/v1/sessions/${id}/transcript`,
};

interface Measured {
  work: string;
  connections: number;
  /** Requests per second, by round. */
  one: number[];
  several: number[];
}

async function run(setting: Setting): Promise<Findings> {
  await requireWrk();
  const several = Math.max(2, availableParallelism());
  const accounts = setting.sized({ full: 1_000, quick: 100, tiny: 2 });
  const rounds = setting.sized({ full: 7, quick: 2, tiny: 1 });
  const seconds = setting.sized({ full: 2, quick: 0.5, tiny: 0.3 });
  const connections = setting.sized({ full: [1, 32, 200], quick: [1, 32, 200], tiny: [4] });

  setting.say('Starting PostgreSQL and making rows …');
  const database = await startDatabase(setting);
  const holders = await seedAccounts(database, accounts);
  await seedSessions(database, 20 * accounts);
  const seeded = await seedTranscripts(database, 4, segments);
  await settle(database);
  const keys = new Map(holders.map(({ id, key }) => [id, key]));
  const start = (count: number) =>
    startApiProgram(setting, database.url, { NODE_ENV: 'production', API_PROCESSES: String(count) });
  const programs = { one: await start(1), several: await start(several) };

  const measured: Measured[] = [];
  for (const [work, pathOf] of Object.entries(works)) {
    const targets = seeded.map(({ account_id: account, id }): Target => {
      return { path: pathOf(id), headers: { Authorization: `Bearer ${keys.get(account)}` } };
    });
    const file = await writeTargets(setting, work.replaceAll(' ', '-'), targets);
    for (const count of connections) {
      setting.say(`Measuring: ${work}, connections: ${count} …`);
      const perSecond = async (url: string) => {
        const figures = await load(setting, url, file, seconds, count);
        if (figures.failures > 0) throw new Error(`${figures.failures} requests failed`);
        return figures.perSecond;
      };
      const contenders = {
        one: () => perSecond(programs.one.url),
        several: () => perSecond(programs.several.url),
      };
      measured.push({ work, connections: count, ...(await interleaved(setting, rounds, contenders)) });
    }
  }
  return {
    sizes: { accounts, sessions: 20 * accounts, segments, rounds, seconds, connections: connections.join(', ') },
    checks: measured.map(({ work, connections, one, several: of }) => ({
      work: `${work}, ${connections} connections`,
      measure: `requests/s of ${several} processes ÷ of one`,
      values: ratios(of, one),
    })),
    figures: [
      {
        title: 'Requests/s, medians',
        head: ['work', 'connections', 'one process', `${several} processes`],
        rows: measured.map((cell) => [
          cell.work,
          cell.connections,
          quantile(cell.one, 0.5),
          quantile(cell.several, 0.5),
        ]),
      },
    ],
    raw: measured,
  };
}
