/**
 * `npm run test:fleet`: cuts off, freezes and kills every machine of a fleet while clients work, and looks for what was lost,
 * doubled or left. It needs root, network namespaces, HAProxy, iproute2 and Go; without them it is "not run".
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { explain } from '../rig/suite.ts';
import { deal, planFaults } from './fault.ts';
import { endWith, requireFleet, runInWorlds } from './in-worlds.ts';
import { linesOf, rowsOf, tableOf, totalsOf } from './report.ts';
import type { Result, Scenario } from './scenario.ts';

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
const { seed } = values;
const each = Number(values.each ?? (values.full ? 30 : 1));
const fleets = Number(values.fleets ?? (values.full ? 3 : 1));
explain(usage, values.help, [each, fleets]);

const versitygw = await requireFleet();
const worlds = deal(planFaults(each, seed), fleets).map((faults, index) => ({
  ...{ versitygw, faults, seed: `${seed}:${index}` },
}));
const { results, breaches } = await runInWorlds<Scenario, Result>(join(import.meta.dirname, 'scenario.ts'), worlds);
const [rows, all] = [rowsOf(results), totalsOf(results)];
if (values.json) console.log(JSON.stringify({ seed, rows, all, breaches }, null, 2));
else
  console.log(`\n${tableOf(rows)}\n\n${linesOf(all)};
${all.restartRequests} requests in rolling restarts, ${all.revokedKeys} keys revoked`);
endWith(breaches, seed);
