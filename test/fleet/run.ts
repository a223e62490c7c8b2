/**
 * `npm run test:fleet`: cuts off, freezes and kills every machine of a fleet while clients work, and looks for what was lost,
 * doubled or left. It needs root, network namespaces, HAProxy, iproute2 and Go; without them it is "not run".
 */
import { join } from 'node:path';
import { readOptions, requireFleet, runFleet } from './command.ts';
import { planFaults } from './fault.ts';
import { linesOf, tableOf } from './report.ts';
import type { Result, Scenario } from './scenario.ts';

const usage = `npm run test:fleet -- [--each N] [--seed S]

  --each N  N faults of each kind (1)
  --seed S  repeats a run: which faults, how long, and what is uploaded (1)`;

const { each, seed } = readOptions(usage);
const argument = { versitygw: await requireFleet(), faults: planFaults(each, seed), seed };
const scenario = join(import.meta.dirname, 'scenario.ts');
await runFleet<Scenario, Result>(
  scenario,
  argument,
  (met) => `${tableOf(met.struck)}\n\n${linesOf(met)};
${met.restartRequests} requests in rolling restarts, ${met.revokedKeys} keys revoked`,
);
