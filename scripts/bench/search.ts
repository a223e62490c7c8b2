/** Searching: a word that few transcripts hold, one that all hold, a phrase, deep pages, and what the index costs. */
import { openDatabase } from '../../db/connection/database.ts';
import { rfc3339 } from '../../db/connection/values.ts';
import { encodeCursor } from '../../src/api/reads/cursor.ts';
import { startDatabase } from './database.ts';
import { startApiProgram } from './program.ts';
import { interleaved } from './rounds.ts';
import { seedSearched, words } from './search-database.ts';
import { storingMs } from './search-storing.ts';
import { everywhere, nowhere, phrase, sometimes } from './search-texts.ts';
import { quantile, ratios } from './statistics.ts';
import { load, requireWrk, writeTargets } from './wrk.ts';
import type { Bench, Check, Findings, Goal, Setting } from './bench.ts';
import type { BenchDatabase } from './database.ts';
import type { Searched } from './search-database.ts';

export const search: Bench = {
  name: 'search',
  summary: 'words and phrases in the transcripts of one account, against a plain page; what the index costs',
  run,
};

const plain = 'a plain page';
const everyWork = 'a word of every transcript';
const works = [
  plain,
  'a word of one transcript',
  'nothing found',
  'a word of one in a hundred',
  everyWork,
  'a phrase',
  'page 50',
] as const;
type Work = (typeof works)[number];
const goals: Partial<Record<Work, Goal>> = {
  'a word of one transcript': { atMost: 5 },
  'nothing found': { atMost: 5 },
  'a word of one in a hundred': { atMost: 15 },
  [everyWork]: { atMost: 15 },
  'a phrase': { atMost: 15 },
};
const limit = 20;
const wordsStored = 2_750;

async function run(setting: Setting): Promise<Findings> {
  await requireWrk();
  const sessions = setting.sized({ full: 1_000_000, quick: 20_000, tiny: 500 });
  const transcripts = setting.sized({ full: 20_000, quick: 2_000, tiny: 50 });
  const others = setting.sized({ full: 999, quick: 99, tiny: 9 });
  const rounds = setting.sized({ full: 9, quick: 5, tiny: 1 });
  const seconds = setting.sized({ full: 3, quick: 1, tiny: 1 });
  const stored = setting.sized({ full: 30, quick: 15, tiny: 2 });

  setting.say('Starting PostgreSQL and making rows …');
  const database = await startDatabase(setting);
  const searched = await seedSearched(setting, database, { sessions, transcripts, others });
  const { url } = await startApiProgram(setting, database.url, { NODE_ENV: 'production' });
  const paths = await pathsOf(database, searched);
  const contenders = {} as Record<Work, () => Promise<number>>;
  for (const work of works) {
    const headers = { Authorization: `Bearer ${searched.account.key}` };
    const targets = paths[work].map((path) => ({ path, headers }));
    const file = await writeTargets(setting, `search-${works.indexOf(work)}`, targets);
    contenders[work] = async () => {
      const { p50Ms, failures } = await load(setting, url, file, seconds, 1);
      if (failures > 0) throw new Error(`${failures} requests failed: ${work}`);
      return p50Ms;
    };
  }
  setting.say('Measuring: one client …');
  const p50 = await interleaved(setting, rounds, contenders);
  setting.say('Measuring: storing a transcript …');
  const { db, close } = openDatabase(database.url, () => undefined);
  setting.atEnd(close);
  const store = (how: Parameters<typeof storingMs>[2]) => () =>
    storingMs(db, searched.account.id, how, stored, wordsStored);
  const storing = await interleaved(setting, rounds, {
    with: store('with the index'),
    without: store('without the index'),
  });
  return {
    sizes: { sessions, transcripts, 'words in each': `${words.fewest} to ${words.most}`, rounds, clients: 1 },
    checks: [
      ...works.flatMap((work) => checkOf(work, p50)),
      {
        work: 'page 50',
        measure: 'p50 ÷ page 1',
        values: ratios(p50['page 50'], p50[everyWork]),
        goal: { atMost: 1.5 },
      },
      {
        work: `storing ${wordsStored.toLocaleString('en')} words`,
        measure: '÷ without the index',
        values: ratios(storing.with, storing.without),
        goal: { atMost: 1.3 },
      },
      {
        ...{ work: 'size of the index', measure: '÷ its text' },
        ...{ values: [searched.indexBytes / searched.textBytes], goal: { atMost: 1 } },
      },
    ],
    figures: [
      {
        title: 'Medians of all rounds',
        head: ['work', 'p50 ms'],
        rows: works.map((work) => [work, quantile(p50[work], 0.5)]),
      },
      {
        title: 'Storing a transcript, medians of all rounds',
        head: ['', 'ms'],
        rows: Object.entries(storing).map(([how, values]) => [`${how} the index`, quantile(values, 0.5)]),
      },
      {
        title: 'Size',
        head: ['MB of text', 'MB of segments as JSON', 'MB of index'],
        rows: [[searched.textBytes / 1e6, searched.segmentBytes / 1e6, searched.indexBytes / 1e6]],
      },
    ],
    raw: { p50, storing, searched: { ...searched, account: undefined, own: undefined } },
  };
}

function checkOf(work: Work, p50: Record<Work, number[]>): Check[] {
  const goal = goals[work];
  return goal === undefined
    ? []
    : [{ work, measure: 'p50 ÷ a plain page', values: ratios(p50[work], p50[plain]), goal }];
}

async function pathsOf({ query }: BenchDatabase, { account, own }: Searched): Promise<Record<Work, string[]>> {
  const pathFor = (q: string) => `/v1/sessions?limit=${limit}&q=${encodeURIComponent(q)}`;
  const deep = await query<{ created_at: string; id: string }>(
    `select created_at, session_id as id from passages where account_id = $1 and number = 0 and cardinality(starts) > 0
     order by created_at desc, session_id desc offset $2 limit 100`,
    [account.id, Math.min(49 * limit - 1, 20)],
  );
  const cursors = deep.map(({ created_at: time, id }) =>
    encodeCursor({ createdAt: rfc3339(time), id }, { q: everywhere }),
  );
  return {
    [plain]: [`/v1/sessions?limit=${limit}`],
    'a word of one transcript': own.map(pathFor),
    'nothing found': [pathFor(nowhere)],
    'a word of one in a hundred': [pathFor(sometimes)],
    [everyWork]: [pathFor(everywhere)],
    'a phrase': [pathFor(`"${phrase}"`)],
    'page 50': cursors.map((cursor) => `${pathFor(everywhere)}&cursor=${cursor}`),
  };
}
