/** Runs every outside judge against the live service and prints one table. scripts/conformance runs it. */
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { judge } from './judge.ts';
import { startJudgedService } from './service.ts';
import type { Judge, Row, Setting } from './judge.ts';

const exitCodes = { passed: 0, failed: 1, wrongUse: 2, interrupted: 130 };
const cache = resolve(import.meta.dirname, '../../.data/conformance');
const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interruption.abort());

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

/** @throws with what to type instead */
function readOptions() {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] as string[] },
      json: { type: 'boolean', default: false },
    },
  });
  const names = lanes.flat().map(({ name }) => name);
  const unknown = values.only.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new Error(`There is no judge ${unknown}, only ${names.join(', ')}.`);
  return values;
}

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

/** @returns whether every judge that ran has passed */
async function conformance({ quick: isQuick, only, json }: ReturnType<typeof readOptions>): Promise<boolean> {
  const { signal } = interruption;
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
  return failed.length === 0;
}

let options: ReturnType<typeof readOptions>;
try {
  options = readOptions();
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exit(exitCodes.wrongUse);
}
try {
  process.exit((await conformance(options)) ? exitCodes.passed : exitCodes.failed);
} catch (error) {
  if (interruption.signal.aborted) process.exit(exitCodes.interrupted);
  say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.exit(exitCodes.failed);
}
