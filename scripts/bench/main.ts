/**
 * `npm run bench -- NAME [--quick] [--json | --markdown]`: how fast the service is, next to what it could be, and how many
 * words it gets wrong.
 *
 * A bench is one file in `scripts/bench/` that exports a `Bench` (`bench.ts`) and stands in `benches.ts`. Its `run` gets a
 * `Setting` (sizes, choices, a folder, `say`, `atEnd`) and hands back `Findings`: `checks` (each measured several times, with or
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
import { Command, InvalidArgumentError, Option } from 'commander';
import { recognizerNames } from '../../src/recognizers/names.ts';
import { NotRun } from './bench.ts';
import { benches } from './benches.ts';
import { chartOf } from './chart.ts';
import { describeMachine } from './machine.ts';
import { inMarkdown, inTerminal } from './tables.ts';
import type { Bench, Choices, Run, Size } from './bench.ts';

const exitCodes = { done: 0, failed: 1, wrongUse: 2, interrupted: 130 };
const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interruption.abort());

const say = (message: string) => process.stderr.write(`${message}\n`);

interface Options extends Omit<Choices, 'audio'> {
  size: Size;
  out: string;
  json?: true;
  markdown?: true;
  last?: true;
}

async function measure(bench: Bench, choices: Choices, { size, out }: Options): Promise<Run> {
  await mkdir(out, { recursive: true });
  const folder = await mkdtemp(join(out, 'run-'));
  const stops: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
  const { signal } = interruption;
  try {
    const setting = {
      size,
      choices,
      folder,
      signal,
      say,
      sized: <Value>(choices: Record<Size, Value>) => choices[size],
    };
    const findings = await bench.run({ ...setting, atEnd: (stop) => void stops.push(stop) });
    const date = new Date().toISOString();
    return { name: bench.name, size, date, machine: describeMachine(), ...findings };
  } finally {
    for (const stop of stops.reverse()) await stop().catch((error: Error) => say(`not stopped: ${error.message}`));
  }
}

/** @throws when the bench fails */
async function runBench(name: string | undefined, audio: string | undefined, options: Options): Promise<void> {
  if (name === undefined) {
    for (const bench of benches) process.stdout.write(`${bench.name.padEnd(12)} ${bench.summary}\n`);
    return;
  }
  const bench =
    benches.find((candidate) => candidate.name === name) ??
    program.error(`There is no bench ${name}, only ${benches.map((candidate) => candidate.name).join(', ')}.`);
  const choices = choicesOf(audio, options);
  const unwanted = (Object.keys(choices) as (keyof Choices)[]).filter((choice) => !bench.takes?.includes(choice));
  if (unwanted.length > 0)
    program.error(`${name} does not take ${unwanted.map((choice) => inWords[choice]).join(' or ')}.`);
  const file = join(options.out, `${name}.json`);
  const run = options.last ? (JSON.parse(await readFile(file, 'utf8')) as Run) : await measure(bench, choices, options);
  if (!options.last) {
    await writeFile(file, `${JSON.stringify(run, undefined, 1)}\n`);
    await writeFile(join(options.out, `${name}.svg`), chartOf(run));
  }
  const text = options.json
    ? `${JSON.stringify(run, undefined, 1)}\n`
    : (options.markdown ? inMarkdown : inTerminal)(run);
  process.stdout.write(text);
}

const inWords: Record<keyof Choices, string> = {
  recognizer: '--recognizer',
  model: '--model',
  server: '--server',
  audio: 'a folder',
  diarization: '--diarization',
  hours: '--hours',
};

function choicesOf(audio: string | undefined, { recognizer, model, server, hours, diarization }: Options): Choices {
  // npm runs scripts in the project's folder; a person means the folder he typed in.
  const typed = (path: string) => resolve(process.env['INIT_CWD'] ?? '', path);
  const folder = { ...(audio && { audio: typed(audio) }), ...(diarization && { diarization: typed(diarization) }) };
  const named = { ...(recognizer && { recognizer }), ...(model && { model }), ...(server && { server }) };
  return { ...named, ...folder, ...(hours && { hours }) };
}

const program: Command = new Command('npm run bench --')
  .description('Measures the service next to small, fair baselines. Without a name: lists the benches.')
  .argument('[name]')
  .argument('[folder]', 'accuracy, speakers: recordings, each with what is said in it in a .txt of the same name')
  .addOption(new Option('--size <size>').choices(['full', 'quick', 'tiny']).default('full'))
  .option('--quick', 'small sizes, at most a minute: to see the direction, not to quote')
  .addOption(new Option('--recognizer <name>', 'one-machine: in place of RECOGNIZER').choices(recognizerNames))
  .addOption(new Option('--model <name>', 'accuracy, speakers: in place of SHERPA_ONNX_MODEL'))
  .addOption(new Option('--server <url>', "accuracy: a server with OpenAI's interface, its model in OPENAI_MODEL"))
  .addOption(new Option('--hours <number>', 'one-machine: hours of speech').argParser(parseHours))
  .option('--diarization <folder>', 'speakers: segmentation.onnx and embedding.onnx')
  .option('--json', 'everything that was measured, instead of tables')
  .option('--markdown', 'tables for a README')
  .option('--last', 'tell the last run again, without measuring')
  .option('--out <folder>', 'where the files go', resolve(import.meta.dirname, '../../.data/bench'))
  .exitOverride((end) => process.exit(end.exitCode === 0 ? exitCodes.done : exitCodes.wrongUse))
  .action((name: string | undefined, folder: string | undefined, options: Options & { quick?: true }) =>
    runBench(name, folder, { ...options, ...(options.quick && { size: 'quick' }) }),
  );

function parseHours(text: string): number {
  const hours = Number(text);
  if (hours > 0 && hours <= 24) return hours;
  throw new InvalidArgumentError('Type a number above 0, at most 24.');
}

try {
  await program.parseAsync();
  process.exit(exitCodes.done);
} catch (error) {
  if (interruption.signal.aborted) process.exit(exitCodes.interrupted);
  if (error instanceof NotRun) {
    process.stdout.write(`not run: ${error.message}\n`);
    process.exit(exitCodes.done);
  }
  say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.exit(exitCodes.failed);
}
