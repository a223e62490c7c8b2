/**
 * How much one account at its worst slows down another. The other account's reads at the same time are compared with
 * its reads on the idle service.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { seedAccounts, seedSessions, seedTranscripts, settle, startDatabase } from './database.ts';
import { beGreedy } from './fairness-greedy.ts';
import { ways } from './fairness-ways.ts';
import { startApiProgram } from './program.ts';
import { interleaved } from './rounds.ts';
import { quantile, ratios } from './statistics.ts';
import { makeAudio } from './upload-audio.ts';
import { asStarted, bearer, removeFiles } from './upload-contenders.ts';
import type { Bench, Check, Figures, Findings, Setting } from './bench.ts';
import type { BenchAccount, BenchDatabase } from './database.ts';
import type { Order } from './fairness-greedy.ts';
import type { Answers, WayName } from './fairness-ways.ts';

/** Reads of the other account. */
interface Read {
  p50: number;
  p99: number;
  /** Reads that were not answered 200. */
  failed: number;
  /** Answers to the greedy account that it may not get. */
  undecided: Answers;
  answers: Answers;
}

type State = 'idle' | 'beside' | 'beside twice as many';

export const fairness: Bench = {
  name: 'fairness',
  summary: "another account's reads while one is at its worst, in every way, against its reads on the idle service",
  run,
};

async function run(setting: Setting): Promise<Findings> {
  const reads = setting.sized({ full: 300, quick: 100, tiny: 6 });
  const rounds = setting.sized({ full: 3, quick: 1, tiny: 1 });
  const least = setting.sized({ full: 1, quick: 1, tiny: 0.01 });
  const sessions = setting.sized({ full: 20_000, quick: 20_000, tiny: 400 });
  const hours = setting.sized({ full: 4, quick: 4, tiny: 0.1 });

  setting.say('Starting PostgreSQL and the service …');
  const database = await startDatabase(setting);
  const [greedy, other] = (await seedAccounts(database, 2)) as [BenchAccount, BenchAccount];
  await database.query('update accounts set queued_sessions = 400 where id = $1', [greedy.id]);
  await seedSessions(database, sessions);
  const seeded = await seedTranscripts(database, 20, 100);
  const longSession = seeded.find(({ account_id: owner }) => owner === greedy.id)!.id;
  await lengthen(database, longSession, hours);
  await settle(database);
  const files = await makeFiles(setting);
  const { url } = await startApiProgram(setting, database.url, asStarted);

  const ids = seeded.filter(({ account_id: owner }) => owner === other.id).map(({ id }) => id);
  const measured: Partial<Record<WayName, Record<State, Read[]>>> = {};
  for (const way of Object.keys(ways) as WayName[]) {
    setting.say(`Measuring: ${way} …`);
    const order = { url, key: greedy.key, longSession, way, files };
    const beside = (times: number) => async () => {
      const read = await readBeside(setting, other, ids, reads, { ...order, times: times * least });
      // No worker runs here, so sessions would stay in the queue and count.
      await database.query(
        "delete from sessions where status = 'queued'; delete from pgboss.job; update accounts set reserved_ms = 0",
      );
      await removeFiles(setting);
      return read;
    };
    const idle = async () => ({ ...(await readAll(setting, url, other, ids, reads)), undecided: {}, answers: {} });
    measured[way] = await interleaved(
      setting,
      rounds,
      { idle, beside: beside(1), 'beside twice as many': beside(2) },
      0,
    );
  }
  const all = measured as Record<WayName, Record<State, Read[]>>;
  return { sizes: { reads, rounds, sessions, hours }, checks: checksOf(all), figures: [figuresOf(all)], raw: all };
}

/** Gives a session the transcript of a recording of so many hours, with a word for each 300 ms. */
async function lengthen({ query }: BenchDatabase, sessionId: string, hours: number): Promise<void> {
  const segments = Math.round((hours * 3_600_000) / 3_000);
  await query(
    `update transcripts set
       segments = (select json_agg(json_build_object('index', i, 'startMs', i * 3000, 'endMs', i * 3000 + 2900,
         'text', 'and so it went on for as long as anybody wanted')) from generate_series(0, $2::int - 1) as i),
       words = (select json_agg(spoken) from generate_series(0, $2::int - 1) as i cross join lateral (
         select json_agg(json_build_object('startMs', i * 3000 + n * 300, 'endMs', i * 3000 + n * 300 + 250, 'text', 'anybody',
           'confidence', 0.93)) as spoken from generate_series(0, 9) as n) as segment)
     where session_id = $1`,
    [sessionId, segments],
  );
}

async function makeFiles(setting: Setting): Promise<Order['files']> {
  const [amr, noise] = [join(setting.folder, 'days.amr'), join(setting.folder, 'noise.mp3')];
  // A packet of one byte for each 20 ms.
  await writeFile(amr, Buffer.alloc(8 * 1024 * 1024, 0x7c).fill('#!AMR\n', 0, 6));
  await writeFile(noise, Buffer.alloc(100_000, 'no audio '));
  const [wav, m4a] = [await makeAudio(setting, 'wav', 20_000), await makeAudio(setting, 'm4a', 28_000)];
  return { wav, m4a, amr, noise };
}

async function readBeside(
  setting: Setting,
  other: BenchAccount,
  ids: readonly string[],
  count: number,
  order: Order,
): Promise<Read> {
  const greedy = await beGreedy(order);
  const read = await readAll(setting, order.url, other, ids, count);
  const answers = await greedy.end();
  const undecided = Object.entries(answers).filter(([answer]) => !ways[order.way].decided.test(answer));
  return { ...read, answers, undecided: Object.fromEntries(undecided) };
}

/** One read after the other: lists, sessions and transcripts in turn. */
async function readAll({ signal }: Setting, url: string, other: BenchAccount, ids: readonly string[], count: number) {
  const took: number[] = [];
  let failed = 0;
  for (let i = 0; i < count; i += 1) {
    signal.throwIfAborted();
    const id = ids[i % ids.length]!;
    const path = ['/v1/sessions?limit=20', `/v1/sessions/${id}`, `/v1/sessions/${id}/transcript`][i % 3]!;
    const began = performance.now();
    const answer = await fetch(`${url}${path}`, { headers: bearer(other) });
    await answer.arrayBuffer();
    took.push(performance.now() - began);
    if (answer.status !== 200) failed += 1;
  }
  return { p50: quantile(took, 0.5), p99: quantile(took, 0.99), failed };
}

type Measured = Record<WayName, Record<State, Read[]>>;

const sum = (answers: Answers) => Object.values(answers).reduce((all, count) => all + count, 0);

function checksOf(measured: Measured): Check[] {
  return Object.entries(measured).flatMap(([work, { idle, beside, 'beside twice as many': twice }]): Check[] => {
    const p99 = (reads: Read[]) => reads.map((read) => read.p99);
    const failures = [...idle, ...beside, ...twice].map(({ failed, undecided }) => failed + sum(undecided));
    return [
      { work, measure: 'p99 beside it ÷ idle', values: ratios(p99(beside), p99(idle)), goal: { atMost: 20 } },
      {
        work,
        measure: 'p99 beside double ÷ beside it',
        values: ratios(p99(twice), p99(beside)),
        goal: { atMost: 1.5 },
      },
      { work, measure: 'answers that nobody should get', values: failures, goal: { atMost: 0 } },
    ];
  });
}

function figuresOf(measured: Measured): Figures {
  const states: State[] = ['idle', 'beside', 'beside twice as many'];
  return {
    title: "The other account's reads, ms: medians of all rounds; what the greedy account was answered, in all of them",
    head: ['one account sends', ...states.flatMap((state) => [`${state} p50`, 'p99']), 'answers', 'failed reads'],
    rows: Object.entries(measured).map(([way, reads]) => {
      const figures = states.flatMap((state) => [
        quantile(
          reads[state].map(({ p50 }) => p50),
          0.5,
        ),
        quantile(
          reads[state].map(({ p99 }) => p99),
          0.5,
        ),
      ]);
      const all = states.flatMap((state) => reads[state]);
      const answers: Answers = {};
      for (const [answer, count] of all.flatMap((read) => Object.entries(read.answers)))
        answers[answer] = (answers[answer] ?? 0) + count;
      const told = Object.entries(answers).map(([answer, count]) => `${count} × ${answer}`);
      return [way, ...figures, told.join(', '), all.reduce((failed, read) => failed + read.failed, 0)];
    }),
  };
}
