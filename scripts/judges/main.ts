/** Runs every outside judge against the live service and prints one table. scripts/conformance runs it. */
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { openBench } from './bench.ts';
import { NotRun } from './judge.ts';
import { lanes } from './judges.ts';
import { startJudgedService } from './judged-service.ts';
import { tableOf } from './table.ts';
import type { Judge } from './judge.ts';
import type { StartedService } from './judged-service.ts';
import type { Row } from './table.ts';

const exitCodes = { passed: 0, failed: 1, wrongUse: 2, interrupted: 130 };
const cache = resolve(import.meta.dirname, '../../.data/conformance');
const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interruption.abort());

const say = (message: string) => process.stderr.write(`${message}\n`);

interface Options {
  isQuick: boolean;
  only: string[];
  asJson: boolean;
}

/** @throws with what to type instead */
function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      json: { type: 'boolean', default: false },
    },
  });
  const names = lanes.flat().map((judge) => judge.name);
  const unknown = values.only.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new Error(`There is no judge ${unknown}, only ${names.join(', ')}.`);
  return { isQuick: values.quick, only: values.only, asJson: values.json };
}

async function ask(judge: Judge, service: StartedService, isQuick: boolean): Promise<Row> {
  const { signal } = interruption;
  const began = performance.now();
  const rowOf = (row: Omit<Row, 'name' | 'tool' | 'seconds'>): Row => {
    const seconds = Math.round((performance.now() - began) / 1000);
    return { ...{ name: judge.name, tool: judge.tool, seconds }, ...row };
  };
  say(`${judge.tool} …`);
  try {
    const bench = await openBench(judge, { cache, contract: service.contract, service, isQuick, signal });
    return rowOf({ ...(await judge.judge(bench)), result: 'passed' });
  } catch (error) {
    signal.throwIfAborted();
    const why = error instanceof Error ? error.message : String(error);
    return rowOf({ version: '', did: '', result: error instanceof NotRun ? 'not run' : 'failed', why });
  }
}

async function askInTurn(lane: readonly Judge[], service: StartedService, { isQuick, only }: Options): Promise<Row[]> {
  const rows: Row[] = [];
  for (const judge of lane) {
    if (only.length > 0 && !only.includes(judge.name)) continue;
    if (isQuick && !judge.isQuick && only.length === 0) rows.push(leftOut(judge));
    else rows.push(await ask(judge, service, isQuick));
  }
  return rows;
}

function leftOut({ name, tool }: Judge): Row {
  return { ...{ name, tool, version: '', did: '', seconds: 0 }, result: 'not run', why: 'only without --quick' };
}

/** @returns whether every judge that ran has passed */
async function conformance(options: Options): Promise<boolean> {
  await mkdir(cache, { recursive: true, mode: 0o711 });
  say('Starting the service …');
  const service = await startJudgedService(cache, interruption.signal);
  let rows: Row[];
  try {
    rows = (await Promise.all(lanes.map((lane) => askInTurn(lane, service, options)))).flat();
  } finally {
    await service.stop();
  }
  process.stdout.write(`${options.asJson ? JSON.stringify(rows, undefined, 2) : tableOf(rows)}\n`);
  const failed = rows.filter((row) => row.result === 'failed');
  for (const { tool, name } of failed) say(`${tool} fell short: ${join(cache, name, 'log.txt')}`);
  return failed.length === 0;
}

let options: Options;
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
