/**
 * `npm run test:fleet`: cuts off, freezes and kills every machine of a fleet while clients work, and looks for what was lost,
 * doubled or left. It needs root, network namespaces, HAProxy, iproute2 and Go; without them it is "not run".
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildVersitygw } from '../support/service/versitygw.ts';
import { deal, planFaults } from './fault.ts';
import { whyNoFleet } from './private-world.ts';
import { lineOf, rowsOf, tableOf, totalsOf } from './report.ts';
import { runInside, worldFolder } from './worlds.ts';
import type { Result, Scenario } from './scenario.ts';

const main = join(import.meta.dirname, 'inside.ts');
const usage = `npm run test:fleet -- [--full] [--each N] [--fleets N] [--seed S] [--json]

  --full      30 faults of each kind in place of one
  --each N    N faults of each kind
  --fleets N  fleets that run at the same time, each in a network of its own, and share the faults (1; 3 with --full)
  --seed S    repeats a run: which faults, how long, and what is uploaded (1)
  --json      the figures as JSON on standard output; progress goes to standard error`;

const { values } = parseArgs({
  options: {
    full: { type: 'boolean', default: false },
    each: { type: 'string' },
    fleets: { type: 'string' },
    seed: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const each = Number(values.each ?? (values.full ? 30 : 1));
const fleets = Number(values.fleets ?? (values.full ? 3 : 1));
const isGood = [each, fleets].every((number) => Number.isInteger(number) && number > 0);
if (values.help || !isGood) {
  process.stderr.write(`${usage}\n`);
  process.exit(values.help ? 0 : 2);
}

const tell = (line: string) => process.stderr.write(`${line}\n`);
const whyNot = await whyNoFleet();
const built = whyNot === undefined ? await buildVersitygw() : { whyNot };
if ('whyNot' in built) {
  console.log(`not run: ${built.whyNot}`);
  process.exit(0);
}

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupted.abort());
const began = performance.now();
const seconds = () => Math.round((performance.now() - began) / 1000);
const { seed } = values;
const hands = deal(planFaults(each, seed), fleets);
const runs = await Promise.allSettled(
  hands.map(async (faults, index) => {
    const folder = await worldFolder();
    const scenario: Scenario = { folder, versitygw: built.program, faults, seed: `${seed}:${index}` };
    const say = (line: string) => tell(`${seconds()} s, fleet ${index + 1}: ${line}`);
    return runInside<Result>({ main, argument: scenario, folder }, interrupted.signal, say);
  }),
);
if (interrupted.signal.aborted) {
  tell('Interrupted.');
  process.exit(1);
}
const results = runs.flatMap((run): Result[] => (run.status === 'fulfilled' ? [run.value] : []));
const failures = runs.flatMap((run) => (run.status === 'rejected' ? [String(run.reason)] : []));
const breaches = [...failures, ...results.flatMap((result) => result.breaches)];
const [rows, all] = [rowsOf(results), totalsOf(results)];
if (values.json) process.stdout.write(`${JSON.stringify({ seed, rows, all, breaches }, null, 2)}\n`);
else process.stdout.write(`\n${tableOf(rows)}\n\n${lineOf(all)}\n`);
for (const breach of breaches) tell(`BREACH: ${breach}`);
tell(
  `${seconds()} s with seed ${seed}: ${breaches.length === 0 ? 'nothing lost, nothing doubled, nothing leaked' : 'NOT SOUND'}`,
);
process.exit(breaches.length === 0 ? 0 : 1);
