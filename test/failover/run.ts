/**
 * `npm run test:failover`: replaces the primary of three PostgreSQL servers (Patroni, etcd) while clients of a fleet work.
 * It needs what `npm run test:fleet` needs, and Patroni, etcd and PostgreSQL 15; without them it is "not run".
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { table } from '../../scripts/terminal/table.ts';
import { whyNoFleet } from '../fleet/private-world.ts';
import { runInside, worldFolder } from '../fleet/worlds.ts';
import { buildVersitygw } from '../support/service/versitygw.ts';
import { binaries } from './database-node.ts';
import type { Result, Scenario } from './scenario.ts';

const main = join(import.meta.dirname, 'inside.ts');
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
const each = Number(values.each);
if (values.help || !Number.isInteger(each) || each < 1) {
  process.stderr.write(`${usage}\n`);
  process.exit(values.help ? 0 : 2);
}

/** Programs, and the Debian packages that bring them. */
const programs = { 'patroni': '/usr/bin/patroni', 'etcd-server': '/usr/bin/etcd', 'postgresql-15': `${binaries}/postgres` }; // prettier-ignore
const missing = Object.entries(programs).filter(([, path]) => !existsSync(path));
const whyNot =
  missing.length > 0 ? `Debian's ${missing.map(([name]) => name).join(', ')} is not installed` : await whyNoFleet();
const built = whyNot === undefined ? await buildVersitygw() : { whyNot };
if ('whyNot' in built) {
  console.log(`not run: ${built.whyNot}`);
  process.exit(0);
}

const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupted.abort());
const tell = (line: string) => process.stderr.write(`${line}\n`);
const folder = await worldFolder();
const scenario: Scenario = { folder, versitygw: built.program, each, seed: values.seed };
const inside = { main, argument: scenario, folder };
const result = await runInside<Result>(inside, interrupted.signal, tell).catch((error: unknown) => {
  tell(interrupted.signal.aborted ? 'Interrupted.' : String(error));
  process.exit(1);
});

const heads = ['s without a row', 's without an upload', 'requests sent again'];
const columns = [{ head: 'case' }, ...heads.map((head) => ({ head, align: 'right' as const }))];
const rows = result.replaced.map(({ way, gapSeconds, uploadGapSeconds, retries }) => [
  ...[way, gapSeconds.toFixed(1), uploadGapSeconds.toFixed(1), String(retries)],
]);
const { requests, retries, uploads, completed, failed, refused, lost, doubled, leaked, breaches } = result;
process.stdout.write(`
${table(columns, rows, 'No case.')}

${requests} requests, ${retries} sent again; ${result.acknowledged} rows acknowledged, ${result.lostRows} of them lost;
${uploads} uploads: ${completed} completed, ${failed} failed as they must, ${refused} refused as they must;
lost ${lost}, doubled ${doubled}, leaked ${leaked}
`);
for (const breach of breaches) tell(`BREACH: ${breach}`);
process.exit(breaches.length === 0 ? 0 : 1);
