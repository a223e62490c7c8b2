/**
 * `npm run test:monitoring`: a real Prometheus and a real Alertmanager watch the service. Every query of the dashboard must have an
 * answer, and every alert fires by a fault and is resolved when that is gone. Needs Debian's prometheus and
 * prometheus-alertmanager; without them it is "not run".
 */
import { spawnSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { table } from '../../scripts/terminal/table.ts';
import { interruption, requirePrograms, tell } from '../rig/suite.ts';
import { worldFolder } from '../rig/world.ts';
import { dashboardFindings } from './dashboard.ts';
import { faults } from './faults.ts';
import { alertNames, shortenings } from './shortened-rules.ts';
import { setStage } from './stage.ts';
import type { Fault } from './faults.ts';
import type { Stage } from './stage.ts';

await requirePrograms({ prometheus: 'prometheus', 'prometheus-alertmanager': 'prometheus-alertmanager' });
const folder = await worldFolder();
// As global-setup.ts of the suite does.
process.env.TEST_FOLDER = folder;
process.env.TMPDIR = folder;
interruption().addEventListener('abort', () => process.exit(1));

const stage = await setStage(folder);
const failures: string[] = [];
try {
  await checkNames(stage);
  await lookAtDashboard(stage);
  console.log(`\nThe alerts, with ${shortenings}:\n`);
  const rows: string[][] = [];
  for (const fault of faults) rows.push(...(await tryOut(fault, stage)));
  const heads = [{ head: 'Alert' }, { head: 'Fault', width: 50 }, { head: 'Fired after' }, { head: 'Resolved after' }];
  console.log(table(heads, rows, ''));
  const untried = alertNames.filter((name) => !faults.some(({ alerts }) => alerts.includes(name)));
  failures.push(...untried.map((name) => `no fault makes ${name} fire`));
} finally {
  failures.push(...(await stage.end()));
  await rm(folder, { recursive: true, force: true });
}
for (const failure of failures) console.log(`FAILED: ${failure}`);
if (failures.length === 0) console.log('\nAll alerts fired and were resolved, and every panel has data.');
process.exit(failures.length === 0 ? 0 : 1);

/** As Prometheus' own linter sees the pages of an API and of a worker. */
async function checkNames({ opsPorts }: Stage): Promise<void> {
  for (const port of opsPorts) {
    const input = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8' });
    if (status !== 0 || stdout + stderr !== '') failures.push(`promtool check metrics: ${stdout}${stderr}`);
  }
}

async function lookAtDashboard({ client, prometheusUrl }: Stage): Promise<void> {
  const stopLoad = client.load();
  const findings = await dashboardFindings(prometheusUrl);
  await stopLoad();
  const columns = [{ head: 'Panel', width: 44 }, { head: 'Query' }, { head: 'Answer', width: 44 }];
  console.log(table(columns, findings.map(({ panel, query, answer }) => [panel, query, answer]), '')); // prettier-ignore
  const empty = findings.filter(({ hasData }) => !hasData);
  failures.push(...empty.map(({ panel, query }) => `${panel}, ${query}: no data`));
}

/** @returns a row for each alert: when it fired, and when it was resolved */
async function tryOut(fault: Fault, stage: Stage): Promise<string[][]> {
  await stage.alerts.calm();
  const begun = secondsSince(performance.now());
  const cure = await fault.begin(stage);
  const fired = new Map<string, string>();
  const resolved = new Map<string, string>();
  const isTold = await stage.alerts.all(fault.alerts, 'firing', (name) => fired.set(name, begun()));
  await cure();
  const cured = secondsSince(performance.now());
  if (isTold) await stage.alerts.all(fault.alerts, 'resolved', (name) => resolved.set(name, cured()));
  const rows = fault.alerts.map((name) => [
    name,
    fault.what,
    fired.get(name) ?? 'NEVER',
    resolved.get(name) ?? 'NEVER',
  ]);
  for (const row of rows) {
    tell(row.join(', '));
    if (row.includes('NEVER')) failures.push(row.join(', '));
  }
  return rows;
}

function secondsSince(began: number): () => string {
  return () => `${Math.round((performance.now() - began) / 1000)} s`;
}
