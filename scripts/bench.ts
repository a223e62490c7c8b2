/**
 * `npm run bench -- NAME [--quick] [--json | --markdown]`: how fast the service is, next to what it could be.
 *
 * A bench is one file in `scripts/bench/` that exports a `Bench` (`bench.ts`) and stands in `benches.ts`. Its `run` gets a
 * `Setting` (sizes, a folder, `say`, `atEnd`) and hands back `Findings`: `checks` (each measured several times, with or
 * without a goal: the table and the bars of the chart) and `figures` (further tables). What most of them need:
 *
 * - `database.ts`: a PostgreSQL of its own, accounts with keys, sessions, transcripts, by set-based SQL
 * - `program.ts`: the API or a baseline as a child process; CPU time and memory of any process
 * - `wrk.ts`: load;  `rounds.ts`: interleaved rounds;  `statistics.ts`: medians, quantiles, ratios round by round
 * - `baselines/`: what ours is compared with
 *
 * Here it is run, cleaned up after, and told: tables to standard output, `<name>.svg` and `<name>.json` to `.data/bench/`.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Command, Option } from 'commander';
import { benches } from './bench/benches.ts';
import { chartOf } from './bench/chart.ts';
import { describeMachine } from './bench/machine.ts';
import { inMarkdown, inTerminal } from './bench/tables.ts';
import type { Bench, Run, Size } from './bench/bench.ts';

const exitCodes = { done: 0, failed: 1, wrongUse: 2, interrupted: 130 };
const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interruption.abort());

const say = (message: string) => process.stderr.write(`${message}\n`);

interface Options {
  size: Size;
  out: string;
  json?: true;
  markdown?: true;
  last?: true;
}

async function measure(bench: Bench, { size, out }: Options): Promise<Run> {
  await mkdir(out, { recursive: true });
  const folder = await mkdtemp(join(out, 'run-'));
  const stops: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
  const { signal } = interruption;
  try {
    const setting = { size, folder, signal, say, sized: <Value>(choices: Record<Size, Value>) => choices[size] };
    const findings = await bench.run({ ...setting, atEnd: (stop) => void stops.push(stop) });
    const date = new Date().toISOString();
    return { name: bench.name, size, date, machine: describeMachine(), ...findings };
  } finally {
    for (const stop of stops.reverse()) await stop().catch((error: Error) => say(`not stopped: ${error.message}`));
  }
}

/** @throws when the bench fails */
async function runBench(name: string | undefined, options: Options): Promise<void> {
  if (name === undefined) {
    for (const bench of benches) process.stdout.write(`${bench.name.padEnd(10)} ${bench.summary}\n`);
    return;
  }
  const bench = benches.find((candidate) => candidate.name === name);
  if (bench === undefined) {
    say(`There is no bench ${name}, only ${benches.map((candidate) => candidate.name).join(', ')}.`);
    process.exit(exitCodes.wrongUse);
  }
  const file = join(options.out, `${name}.json`);
  const run = options.last ? (JSON.parse(await readFile(file, 'utf8')) as Run) : await measure(bench, options);
  if (!options.last) {
    await writeFile(file, `${JSON.stringify(run, undefined, 1)}\n`);
    await writeFile(join(options.out, `${name}.svg`), chartOf(run));
  }
  const text = options.json
    ? `${JSON.stringify(run, undefined, 1)}\n`
    : (options.markdown ? inMarkdown : inTerminal)(run);
  process.stdout.write(text);
}

const program = new Command('npm run bench --')
  .description('Measures the service next to small, fair baselines. Without a name: lists the benches.')
  .argument('[name]')
  .addOption(new Option('--size <size>').choices(['full', 'quick', 'tiny']).default('full'))
  .option('--quick', 'small sizes, at most a minute: to see the direction, not to quote')
  .option('--json', 'everything that was measured, instead of tables')
  .option('--markdown', 'tables for a README')
  .option('--last', 'tell the last run again, without measuring')
  .option('--out <folder>', 'where the files go', resolve(import.meta.dirname, '../.data/bench'))
  .action((name: string | undefined, options: Options & { quick?: true }) =>
    runBench(name, { ...options, ...(options.quick && { size: 'quick' }) }),
  );

try {
  await program.parseAsync();
  process.exit(exitCodes.done);
} catch (error) {
  if (interruption.signal.aborted) process.exit(exitCodes.interrupted);
  say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.exit(exitCodes.failed);
}
