/** Runs every outside judge against the live service and prints one table. scripts/conformance runs it. */
import { mkdir, cp, writeFile } from 'node:fs/promises';
import { join, resolve, delimiter, dirname } from 'node:path';
import { Command, Option } from 'commander';
import Table from 'cli-table3';
import { runWork } from '../terminal/run-command.ts';
import { startJudgedService } from './service.ts';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { JudgedService } from './service.ts';

const cache = resolve(import.meta.dirname, '../../.data/conformance');

const quick = (name: string): Judge => ({ name, isQuick: true, isClient: false });
const slow = (name: string): Judge => ({ name, isQuick: false, isClient: false });
const client = (judge: Judge): Judge => ({ ...judge, isClient: true });

/**
 * Two lanes at once, so that downloads and compilers don't wait for Schemathesis. Judges of one lane run one after the
 * other, because Maven and npm share folders.
 */
const lanes: readonly (readonly Judge[])[] = [
  [
    ...['redocly', 'spectral', 'arazzo', 'code-samples'].map(quick),
    ...['openapi-fetch', 'hey-api', 'openapi-python-client'].map(quick).map(client),
    ...['orval', 'prism', 'oapi-codegen', 'ogen'].map(slow).map(client),
    ...['java', 'python', 'rust'].map((language) => client(slow(`openapi-generator-${language}`))),
  ],
  [quick('schemathesis'), slow('schemathesis-defaults')],
];

const say = (message: string) => process.stderr.write(`${message}\n`);

const program = new Command('./scripts/conformance')
  .option('--quick', 'without those that take minutes')
  .addOption(new Option('--only <judge...>', 'these alone').choices(lanes.flat().map(({ name }) => name)))
  .option('--json', 'instead of a table')
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));

async function askInTurn(lane: readonly Judge[], only: readonly string[], setting: Setting): Promise<Row[]> {
  const rows: Row[] = [];
  for (const each of lane) {
    const { name, isQuick } = each;
    if (only.length > 0 ? !only.includes(name) : setting.isQuick && !isQuick) continue;
    say(`${name} …`);
    rows.push(await judge(each, setting));
  }
  return rows;
}

function tableOf(rows: readonly Row[]): string {
  const table = new Table({
    head: ['tool', 'result', 'what it did, or why not', 's'],
    colWidths: [26, 9, 100, 6],
    style: { head: [], border: [] },
    wordWrap: true,
  });
  for (const { name, result, what, seconds } of rows) table.push([name, result, what, String(seconds)]);
  return table.toString();
}

interface Typed {
  quick?: true;
  only?: string[];
  json?: true;
}

/** @returns 0 when every judge that ran has passed, otherwise 1 */
async function conformance(signal: AbortSignal): Promise<number> {
  const { quick: isQuick = false, only = [], json } = program.parse().opts<Typed>();
  await mkdir(cache, { recursive: true, mode: 0o711 });
  say('Starting the service …');
  const service = await startJudgedService(cache, signal);
  const setting: Setting = { cache, service, isQuick, signal };
  let rows: Row[];
  try {
    rows = (await Promise.all(lanes.map((lane) => askInTurn(lane, only, setting)))).flat();
  } finally {
    await service.stop();
  }
  process.stdout.write(`${json ? JSON.stringify(rows, undefined, 2) : tableOf(rows)}\n`);
  const failed = rows.filter(({ result }) => result === 'failed');
  for (const { name } of failed) say(`${name} fell short: ${join(cache, name, 'log.txt')}`);
  return failed.length === 0 ? 0 : 1;
}

interface Judge {
  /** For `--only`; also the name of its folder in `tools` and in the cache. */
  name: string;
  /** Whether it takes part in `--quick`. */
  isQuick: boolean;
  /** A generated client: the last line that it prints is an {@link Experience}. */
  isClient: boolean;
}

interface Row {
  name: string;
  /** `not run`: this machine can't run the tool. That is never a pass, and no fault of the service. */
  result: 'passed' | 'failed' | 'not run';
  /** What was done, with numbers; or why it did not pass. */
  what: string;
  seconds: number;
}

interface Setting {
  /** Where everything that is downloaded or generated stays for the next run. */
  cache: string;
  service: JudgedService;
  isQuick: boolean;
  signal: AbortSignal;
}

/** What a client saw in the main job. */
interface Experience {
  /** Sessions in the list. */
  listed: number;
  segments: number;
  text: string;
  /** Words with times, over all segments. */
  words: number;
  /** The status of the session, when the driver reads it. */
  status?: string;
  /** WebVTT, when the driver asks for it. */
  captions?: string;
  /** The `code` of each typed error: for a wrong key, an unknown session, and an Idempotency-Key of another upload. */
  problems: string[];
}

/** On busy cores, Go and Rust compile for minutes, and Schemathesis asks for many. */
const limitMs = 30 * 60_000;
/** EX_UNAVAILABLE of sysexits.h. */
const notRun = 69;
const root = resolve(import.meta.dirname, '../..');

/** @throws the reason of `signal` */
async function judge({ name, isClient }: Judge, setting: Setting): Promise<Row> {
  const began = performance.now();
  const row = (result: Row['result'], what: string): Row => {
    return { name, result, what, seconds: Math.round((performance.now() - began) / 1000) };
  };
  const { code, lastLine } = await runRecipe(name, setting);
  setting.signal.throwIfAborted();
  if (code === notRun) return row('not run', lastLine);
  if (code !== 0) return row('failed', `${code ?? 'killed'}: ${lastLine.slice(0, 200)}`);
  if (!isClient) return row('passed', lastLine);
  const { faults, seen } = seenBy(lastLine);
  return faults.length === 0 ? row('passed', seen) : row('failed', faults.join('; '));
}

async function runRecipe(name: string, { cache, service, isQuick, signal }: Setting) {
  const folder = join(cache, name);
  await mkdir(folder, { recursive: true });
  await cp(join(import.meta.dirname, 'tools', name), folder, { recursive: true });
  const child = spawn('bash', ['-c', `source "$JUDGES/steps.sh"; source ./recipe.sh`], {
    cwd: folder,
    // In a process group of its own, so that what it started is ended with it.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      // The Node.js of the project comes first: npm and the tools that it brings run on it.
      PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`,
      ...{ ROOT: root, JUDGES: import.meta.dirname, CACHE: cache, QUICK: isQuick ? 'yes' : '' },
      ...{ RUN_ID: randomUUID(), ...service.environment, ...ownDownloads(cache) },
      // No tool may send statistics: Spectral's installation would, by a package called scarf.
      ...{ SCARF_ANALYTICS: 'false', DO_NOT_TRACK: '1' },
    },
  });
  const endGroup = () => {
    try {
      process.kill(-child.pid!, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  };
  const tooLate = AbortSignal.any([signal, AbortSignal.timeout(limitMs)]);
  tooLate.addEventListener('abort', endGroup);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  const code = await new Promise<number | null>((ended, failed) => child.once('close', ended).once('error', failed));
  tooLate.removeEventListener('abort', endGroup);
  endGroup();
  await writeFile(join(folder, 'log.txt'), output);
  return { code, lastLine: output.trim().split('\n').at(-1)!.trim() };
}

/** Keeps what package managers download out of the user's home. */
function ownDownloads(cache: string): Record<string, string> {
  return {
    npm_config_cache: join(cache, 'downloads/npm'),
    PIP_CACHE_DIR: join(cache, 'downloads/pip'),
    GOMODCACHE: join(cache, 'downloads/go'),
    GOCACHE: join(cache, 'downloads/go-build'),
    // Without write permission `rm -r` of the cache would fail.
    GOFLAGS: '-modcacherw -mod=mod',
    GOTOOLCHAIN: 'local',
  };
}

/** What every generated client must get from the service, whatever its language. */
function seenBy(line: string): { faults: string[]; seen: string } {
  const { listed, segments, text, words, status = 'completed', captions, problems } = JSON.parse(line) as Experience;
  const required: [boolean, string][] = [
    [listed > 0, 'the list is empty'],
    [segments > 0 && text.trim() !== '', 'the transcript has no text'],
    [words > 0, 'the transcript has no words'],
    [status === 'completed', `the session is ${status}`],
    [captions === undefined || captions.startsWith('WEBVTT\n'), 'the captions are no WebVTT'],
    [
      problems.join() === 'unauthorized,session_not_found,idempotency_key_reused',
      `the typed errors are ${problems.join(', ')}`,
    ],
  ];
  const also = captions === undefined ? '' : ' and its captions';
  return {
    faults: required.filter(([isSo]) => !isSo).map(([, otherwise]) => otherwise),
    seen: `listed, uploaded, polled, read "${text}"${also}, met 401, 404 and 422 typed`,
  };
}

await runWork(conformance);
