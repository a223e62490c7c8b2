import { randomInt } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { installFromPyPI } from './pypi.ts';
import { expect } from './judge.ts';
import type { Bench, Judge, JudgedService } from './judge.ts';

export const version = '4.32.5';
/** A fixed seed, so that CI gives the same answer each time. */
const quickSeed = 20261120;
const given = resolve(import.meta.dirname, 'schemathesis');

/** The part of a report that is used here. */
interface Report {
  phases: Record<string, { status: string }>;
  operations: { total: number; tested: number };
  test_cases: { generated: number; with_failures: number; errored: number };
}

export const schemathesis: Judge = {
  name: 'schemathesis',
  tool: 'Schemathesis',
  isQuick: true,
  async judge(bench) {
    await installFromPyPI(bench, [`schemathesis==${version}`]);
    const seed = bench.isQuick ? quickSeed : randomInt(2 ** 31);
    const { phases, operations, test_cases: cases } = await fuzz(bench, seed);
    const names = Object.keys(phases);
    const broken = names.filter((name) => phases[name]!.status !== 'success');
    expect(broken.length === 0, `${broken.join(', ')} did not succeed`);
    const { tested, total } = operations;
    expect(tested === total, `${tested} of ${total} operations were tested`);
    expect(cases.with_failures + cases.errored === 0, `${cases.with_failures + cases.errored} cases failed`);
    const what = `${cases.generated} cases (${names.join(', ')}) on ${tested} operations`;
    return { version, did: `${what}, every check, as two accounts, seed ${seed}` };
  },
};

async function fuzz({ folder, run, isQuick, contract, service }: Bench, seed: number): Promise<Report> {
  const report = join(folder, 'report.json');
  await rm(report, { force: true });
  await writeFile(join(folder, 'accounts.json'), accounts(service.fuzzed));
  const { audio: AUDIO, sessionIds, cursor: CURSOR } = service.fuzzed;
  const env = { AUDIO, SESSION_IDS: sessionIds.join(','), CURSOR, PYTHONPATH: given };
  const amount = ['--max-examples', isQuick ? '15' : '500', '--seed', String(seed)];
  const output = ['--no-color', '--report', 'json', '--report-json-path', report];
  // Relative paths in the configuration start here, where the accounts are.
  const command = ['venv/bin/st', '--config-file', join(given, 'schemathesis.toml'), 'run', contract];
  await run([...command, '--url', service.url, ...amount, ...output], { env, limitMs: 30 * 60_000 });
  return JSON.parse(await readFile(report, 'utf8')) as Report;
}

/** In the format of Web Fuzzing Commons. */
function accounts({ key, strangerKey }: JudgedService['fuzzed']): string {
  const entry = (name: string, secret: string) => ({
    name,
    fixedHeaders: [{ name: 'Authorization', value: `Bearer ${secret}` }],
  });
  return JSON.stringify({ auth: [entry('judge', key), entry('stranger', strangerKey)] });
}
