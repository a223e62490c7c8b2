/** Whether anything becomes slower or larger as the service is used. */
import { openDatabase } from '../../db/connection/database.ts';
import { startDatabase } from './database.ts';
import { completionMs } from './growth-completion.ts';
import { grow, readWorks, segments } from './growth-database.ts';
import { readLong, readVeryOften } from './growth-memory.ts';
import { keptAfterAMonth } from './growth-rows.ts';
import { interleaved } from './rounds.ts';
import { quantile, ratios } from './statistics.ts';
import { crowd, load, requireWrk } from './wrk.ts';
import type { Bench, Check, Figures, Findings, Setting } from './bench.ts';
import type { Grown, ReadWork } from './growth-database.ts';
import type { Long, Steady } from './growth-memory.ts';
import type { KeptRows } from './growth-rows.ts';

export const growth: Bench = {
  name: 'growth',
  summary:
    'the same reads and completions with up to 5,000,000 sessions, deep pages, memory, very long transcripts, rows that are kept',
  run,
};

const completion = 'completion';
const worksMeasuredTogether: ReadWork[][] = [
  ['page 1', 'page 10,000'],
  ['page 1 of one status'],
  ['one session'],
  ['transcript'],
];
/** Of each size and work, by round: ms per request at full load, ms of one completion. */
type Measured = Record<string, number[]>;
const nameOf = (sessions: number, work: string) => `${work} at ${sessions}`;

async function run(setting: Setting): Promise<Findings> {
  await requireWrk();
  const sizes = setting.sized({ full: [100_000, 1_000_000, 5_000_000], quick: [5_000, 20_000], tiny: [1_000, 2_000] });
  const rounds = setting.sized({ full: 7, quick: 3, tiny: 1 });
  const seconds = setting.sized({ full: 2, quick: 1, tiny: 1 });
  const requests = setting.sized({ full: 1_000_000, quick: 20_000, tiny: 500 });
  const long = { segments: setting.sized({ full: 100_000, quick: 20_000, tiny: 1_000 }), clients: 20 };

  setting.say('Starting PostgreSQL …');
  const server = await startDatabase(setting);
  setting.say('Measuring: what is kept of a month of uploads …');
  const kept = await keptAfterAMonth(setting, server);
  const all: Grown[] = [];
  for (const sessions of sizes) {
    setting.say(`Making ${sessions.toLocaleString('en')} sessions …`);
    all.push(await grow(setting, server, sessions));
  }
  const measured = await measure(setting, all, rounds, seconds);
  const [smallest, largest] = [all[0]!, all.at(-1)!];
  setting.say('Measuring: a very long transcript …');
  const ofLong = await readLong(setting, smallest.database, smallest.largest, long);
  setting.say(`Measuring: memory over ${requests.toLocaleString('en')} requests …`);
  const steady = await readVeryOften(setting, largest, requests);
  return {
    sizes: {
      sessions: sizes.join(', '),
      accounts: 'half of all in one of 1,000',
      segments,
      rounds,
      connections: crowd,
      'long transcript': `${long.segments.toLocaleString('en')} segments, ${long.clients} clients`,
    },
    checks: [...checksOf(all, measured), ...memoryChecks(steady, ofLong), ...kept.map(rowsCheck)],
    figures: [figuresOf(all, measured), ...memoryFigures(steady, ofLong), rowsFigures(kept)],
    raw: { measured, steady, ofLong, kept },
  };
}

async function measure(setting: Setting, all: Grown[], rounds: number, seconds: number): Promise<Measured> {
  const measured: Measured = {};
  for (const works of worksMeasuredTogether) {
    setting.say(`Measuring: ${works.join(', ')} …`);
    const contenders = works.flatMap((work) =>
      all.map(({ sessions, api, targets }) => [
        nameOf(sessions, work),
        async () => {
          const { perSecond, failures } = await load(setting, api.url, targets[work], seconds);
          if (failures > 0) throw new Error(`${failures} requests failed`);
          return 1000 / perSecond;
        },
      ]),
    );
    Object.assign(measured, await interleaved(setting, rounds, Object.fromEntries(contenders)));
  }
  setting.say(`Measuring: ${completion} …`);
  const times = setting.sized({ full: 40, quick: 20, tiny: 3 });
  const contenders = all.map(({ sessions, database, largest }) => {
    const { db, close } = openDatabase(database.url, () => undefined);
    setting.atEnd(close);
    return [nameOf(sessions, completion), () => completionMs(db, largest.id, times)];
  });
  return Object.assign(measured, await interleaved(setting, rounds, Object.fromEntries(contenders)));
}

function checksOf(all: Grown[], measured: Measured): Check[] {
  const goal = { atMost: 1.3 };
  const of = ({ sessions }: Grown, work: string) => measured[nameOf(sessions, work)]!;
  const deep = all.map((grown) => ({
    work: `page ${grown.page.toLocaleString('en')} of ${(grown.sessions / 2).toLocaleString('en')} sessions`,
    measure: 'time ÷ page 1',
    values: ratios(of(grown, 'page 10,000'), of(grown, 'page 1')),
    goal,
  }));
  const [smallest, largest] = [all[0]!, all.at(-1)!];
  const grown = [...readWorks, completion].map((work) => ({
    work: `${work === 'page 10,000' ? 'deep page' : work} at ${largest.sessions.toLocaleString('en')} sessions`,
    measure: `time ÷ at ${smallest.sessions.toLocaleString('en')}`,
    values: ratios(of(largest, work), of(smallest, work)),
    goal,
  }));
  return [...deep, ...grown];
}

/** Memory is flat when a process has after all requests what it had after a tenth of them. */
function memoryChecks({ course }: Steady, { oneMb, manyMb }: Long): Check[] {
  const last = course.at(-1)!;
  const tenth = course.find(({ requests }) => requests >= last.requests / 10)!;
  return [
    {
      ...{ work: `memory after ${last.requests.toLocaleString('en')} requests`, measure: '÷ after a tenth of them' },
      ...{ values: [last.mb / tenth.mb], goal: { atMost: 1.1 } },
    },
    {
      work: 'long transcript, peak memory, 20 clients',
      measure: '÷ one client',
      values: [manyMb / oneMb],
      goal: { atMost: 1.5 },
    },
  ];
}

const rowsCheck = ({ what, after, bound }: KeptRows): Check => ({
  ...{ work: `${what} after a month`, measure: '÷ what may be kept' },
  ...{ values: [after / bound], goal: { atMost: 1 } },
});

const rowsFigures = (kept: KeptRows[]): Figures => ({
  title: 'Rows of a month of uploads, before and after a worker came',
  head: ['what', 'before', 'after', 'what may be kept'],
  rows: kept.map(({ what, before, after, bound }) => [what, before, after, bound]),
});

function figuresOf(all: Grown[], measured: Measured): Figures {
  const rows = [...readWorks, completion].map((work) => [
    work,
    ...all.map(({ sessions }) => quantile(measured[nameOf(sessions, work)]!, 0.5)),
  ]);
  const head = ['work', ...all.map(({ sessions }) => `${sessions.toLocaleString('en')} sessions`)];
  return { title: 'Median ms per request (reads: at full load)', head, rows };
}

function memoryFigures({ course }: Steady, { bytes, oneMb, manyMb, manyMs }: Long): Figures[] {
  const some = course.filter((_, index) => index % Math.ceil(course.length / 10) === 0 || index === course.length - 1);
  return [
    { title: 'Memory of the API', head: ['requests', 'MB'], rows: some.map(({ requests, mb }) => [requests, mb]) },
    {
      title: 'A very long transcript',
      head: ['MB sent', 'peak MB, one client', 'peak MB, 20 clients', 'ms until all 20 have it'],
      rows: [[bytes / 1e6, oneMb, manyMb, manyMs]],
    },
  ];
}
