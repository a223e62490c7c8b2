/**
 * `npm run test:failover`: replaces the primary of three PostgreSQL servers (Patroni, etcd) while clients of a fleet work.
 * It needs what `npm run test:fleet` needs, and Patroni, etcd and PostgreSQL 15; without them it is "not run".
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { endWith, requireFleet, runInWorlds } from '../fleet/in-worlds.ts';
import { linesOf } from '../fleet/report.ts';
import { figuresTable, rounded } from '../rig/figures.ts';
import { explain } from '../rig/suite.ts';
import { binaries } from './database-node.ts';
import type { Result, Scenario } from './scenario.ts';

const usage = `npm run test:failover -- [--each N] [--seed S]

  --each N  each of the three cases N times (1)
  --seed S  repeats what is uploaded (1)`;

const { values } = parseArgs({
  options: {
    each: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  },
});
const { seed } = values;
const each = Number(values.each);
explain(usage, values.help, [each]);

const needed = { patroni: 'patroni', etcd: 'etcd-server', [`${binaries}/postgres`]: 'postgresql-15' };
const versitygw = await requireFleet(needed);
const scenario = join(import.meta.dirname, 'scenario.ts');
const { results, breaches } = await runInWorlds<Scenario, Result>(scenario, [{ versitygw, each, seed }]);

const titles = { gap: 's without a row', uploadGap: 's without an upload', retries: 'requests sent again' };
for (const met of results) {
  const rows = met.replaced.map(({ way, gapSeconds, uploadGapSeconds, retries }) => ({
    ...{ kind: way, gap: rounded(gapSeconds), uploadGap: rounded(uploadGapSeconds), retries },
  }));
  console.log(`\n${figuresTable('case', titles, rows)}\n\n${linesOf(met)};
${met.acknowledged} rows acknowledged, ${met.lostRows} of them lost`);
}
endWith(breaches, seed);
