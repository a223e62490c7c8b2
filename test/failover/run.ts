/**
 * `npm run test:failover`: replaces the primary of three PostgreSQL servers (Patroni, etcd) while clients of a fleet work.
 * It needs what `npm run test:fleet` needs, and Patroni, etcd and PostgreSQL 15; without them it is "not run".
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readOptions, requireFleet, runFleet } from '../fleet/command.ts';
import { linesOf } from '../fleet/report.ts';
import { figuresTable, rounded } from '../rig/figures.ts';
import { notRun } from '../rig/suite.ts';
import { binaries } from './database-node.ts';
import type { Result, Scenario } from './scenario.ts';

const usage = `npm run test:failover -- [--each N] [--seed S]

  --each N  each of the three cases N times (1)
  --seed S  repeats what is uploaded (1)`;

const { each, seed } = readOptions(usage);
const needed = { patroni: 'patroni', etcd: 'etcd-server', [`${binaries}/postgres`]: 'postgresql-15' };
const argument = { versitygw: await requireFleet(needed), each, seed };
await requireKeptLeader();
const titles = { gap: 's without a row', uploadGap: 's without an upload', retries: 'requests sent again' };
await runFleet<Scenario, Result>(join(import.meta.dirname, 'scenario.ts'), argument, (met) => {
  const rows = met.replaced.map(({ way, gapSeconds, uploadGapSeconds, retries }) => ({
    ...{ kind: way, gap: rounded(gapSeconds), uploadGap: rounded(uploadGapSeconds), retries },
  }));
  return `${figuresTable('case', titles, rows)}\n\n${linesOf(met)};
${met.acknowledged} rows acknowledged, ${met.lostRows} of them lost`;
});

/** Ends the command with a Patroni that gives the lead back to a machine that was cut off (patroni/patroni#2689, mended in 3.0.3). */
async function requireKeptLeader(): Promise<void> {
  const { stdout } = await promisify(execFile)('patroni', ['--version']);
  const [major, minor, patch] = stdout.match(/\d+/g)!.map(Number) as [number, number, number];
  if (major * 10_000 + minor * 100 + patch >= 30_003) return;
  notRun(`Patroni ${major}.${minor}.${patch} loses acknowledged rows; with 3.0.3 or newer first in PATH it is tried
  (python3 -m venv FOLDER && FOLDER/bin/pip install 'patroni[etcd3]' psycopg2-binary)`);
}
