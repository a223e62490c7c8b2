/**
 * `npm run bench -- NAME [--quick] [--json]`: how fast the service is, next to what it could be, and how many words it
 * gets wrong.
 *
 * A bench is one file that exports a `Bench` (`bench.ts`) and stands below. Its `run` gets a `Setting` (sizes, choices, a
 * folder, `say`, `atEnd`) and hands back `Findings`: `checks` (each measured several times, with or without a goal) and
 * `figures` (further tables). What most of them need:
 *
 * - `database.ts`: a PostgreSQL of its own, accounts with keys, sessions, transcripts, by set-based SQL
 * - `program.ts`: the API or a baseline as a child process; `process-tree.ts`: CPU time and memory of any process
 * - `statistics.ts`: interleaved rounds, their medians, quantiles and ratios round by round
 * - `baselines/`: what ours is compared with
 *
 * Here it is run, cleaned up after and shown: tables to standard output, `<name>.json` to `.data/bench/`.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, release, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { recognizerNames } from '../../src/recognizers/names.ts';
import { runWork } from '../terminal/run-command.ts';
import { accuracy } from './accuracy.ts';
import { oneMachine } from './one-machine.ts';
import { pipeline } from './pipeline.ts';
import { reads } from './reads.ts';
import { servers } from './servers.ts';
import { uploads } from './uploads.ts';
import Table from 'cli-table3';
import { median, readable, verdictOn } from './statistics.ts';
import type { Bench, Choices, Run, Size, Check } from './bench.ts';

/** In the order in which they are listed. */
const benches: readonly Bench[] = [oneMachine, reads, uploads, accuracy, pipeline, servers];

const say = (message: string) => process.stderr.write(`${message}\n`);

interface Options extends Omit<Choices, 'audio'> {
  size: Size;
  out: string;
  json?: true;
}

async function measure(bench: Bench, choices: Choices, { size, out }: Options, signal: AbortSignal): Promise<Run> {
  await mkdir(out, { recursive: true });
  const folder = await mkdtemp(join(out, 'run-'));
  const stops: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
  try {
    const findings = await bench.run({
      ...{ size, choices, folder, say, signal },
      sized: (values) => values[size],
      atEnd: (stop) => void stops.push(stop),
    });
    return { name: bench.name, size, date: new Date().toISOString(), machine: describeMachine(), ...findings };
  } finally {
    for (const stop of stops.reverse()) await stop().catch((error: Error) => say(`not stopped: ${error.message}`));
  }
}

const describeMachine = (): Record<string, string> => ({
  processor: `${cpus()[0]?.model.trim() ?? 'unknown'}, ${availableParallelism()} cores`,
  memory: `${Math.round(totalmem() / 1024 ** 3)} GiB`,
  system: `Linux ${release()}`,
  node: process.version,
});

type Typed = [name: string | undefined, audio: string | undefined, Options & { quick?: true }];

/** @throws when the bench fails */
async function runBench([name, audio, typed]: Typed, signal: AbortSignal): Promise<void> {
  const options = { ...typed, ...(typed.quick && { size: 'quick' as const }) };
  if (name === undefined) {
    for (const bench of benches) process.stdout.write(`${bench.name.padEnd(12)} ${bench.summary}\n`);
    return;
  }
  const bench =
    benches.find((candidate) => candidate.name === name) ??
    program.error(`There is no bench ${name}, only ${benches.map((candidate) => candidate.name).join(', ')}.`);
  const { recognizer, model, server, hours } = options;
  // npm runs scripts in the project's folder; a person means the folder he typed in.
  const folder = audio && resolve(process.env['INIT_CWD'] ?? '', audio);
  const given = Object.entries({ recognizer, model, server, hours, audio: folder });
  const choices: Choices = Object.fromEntries(given.filter(([, value]) => value !== undefined));
  const unwanted = Object.keys(choices).find((choice) => !bench.takes?.includes(choice as keyof Choices));
  if (unwanted !== undefined)
    program.error(`${name} does not take ${unwanted === 'audio' ? 'a folder' : `--${unwanted}`}.`);
  const run = await measure(bench, choices, options, signal);
  const json = `${JSON.stringify(run, undefined, 1)}\n`;
  await writeFile(join(options.out, `${name}.json`), json);
  process.stdout.write(options.json ? json : inTerminal(run));
}

const program: Command = new Command('npm run bench --')
  .description('Measures the service next to small, fair baselines. Without a name: lists the benches.')
  .argument('[name]')
  .argument('[folder]', 'accuracy: recordings, each with what is said in it in a .txt of the same name')
  .addOption(new Option('--size <size>').choices(['full', 'quick', 'tiny']).default('full'))
  .option('--quick', 'small sizes, about a minute: to see the direction, not to quote')
  .addOption(new Option('--recognizer <name>', 'one-machine: in place of RECOGNIZER').choices(recognizerNames))
  .option('--model <name>', 'accuracy: in place of SHERPA_ONNX_MODEL')
  .option('--server <url>', "accuracy: a server with OpenAI's interface, its model in OPENAI_MODEL")
  .addOption(new Option('--hours <number>', 'one-machine: hours of speech').argParser(parseHours))
  .option('--json', 'everything that was measured, instead of tables')
  .option('--out <folder>', 'where the JSON file goes', resolve(import.meta.dirname, '../../.data/bench'))
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));

function parseHours(text: string): number {
  const hours = Number(text);
  if (hours > 0 && hours <= 24) return hours;
  throw new InvalidArgumentError('Type a number above 0, at most 24.');
}

await runWork(async (signal) => {
  const { processedArgs } = program.parse();
  await runBench([processedArgs[0], processedArgs[1], program.opts()], signal);
  return 0;
});

/** A run as tables for a terminal. */
function inTerminal({ name, size, date, machine, sizes, checks, figures = [] }: Run): string {
  const head = ['work', 'measure', 'median', 'min', 'max', 'goal', 'result'];
  const parts = [`${name}: goals`, boxed(head, checks.map(rowOf))];
  for (const { title, head, rows } of figures) parts.push(title, boxed(head, rows));
  const facts = Object.entries({ ...machine, ...sizes, size, date });
  parts.push('Machine, sizes', boxed(['what', ''], facts));
  return `${parts.join('\n')}\n`;
}

function rowOf(check: Check): string[] {
  const { work, measure, values, unit = '', goal } = check;
  const spread = [`${readable(median(values))} ${unit}`, readable(Math.min(...values)), readable(Math.max(...values))];
  const bound =
    goal === undefined ? '' : 'atLeast' in goal ? `≥ ${readable(goal.atLeast)}` : `≤ ${readable(goal.atMost)}`;
  return [work, measure, ...spread, bound, verdictOn(check)];
}

function boxed(head: string[], rows: (string | number)[][]): string {
  const table = new Table({ head, style: { head: [], border: [] } });
  table.push(...rows.map((row) => row.map((cell) => (typeof cell === 'number' ? readable(cell) : cell))));
  return table.toString();
}
