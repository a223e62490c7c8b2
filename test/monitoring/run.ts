/**
 * `npm run test:monitoring`: a real Prometheus and a real Alertmanager watch the service. Every query of the dashboard must have an
 * answer, and every alert fires by a fault and is resolved when that is gone. Needs Debian's prometheus and
 * prometheus-alertmanager; without them it is "not run".
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { table } from '../../scripts/terminal/table.ts';
import { dashboardFindings } from './dashboard.ts';
import { faults } from './faults.ts';
import { alertNames, shortenings } from './shortened-rules.ts';
import { setStage } from './stage.ts';

const missing = ['prometheus', 'prometheus-alertmanager'].filter(
  (program) => spawnSync(program, ['--version']).error !== undefined,
);
if (missing.length > 0) {
  console.log(`not run: ${missing.join(' and ')} not installed (apt-get install prometheus prometheus-alertmanager)`);
  process.exit(0);
}

// As global-setup.ts of the suite does: root's PostgreSQL runs as another user.
const folder = await mkdtemp(join(tmpdir(), 'monitoring-'));
await chmod(folder, 0o711);
process.env.TEST_FOLDER = folder;
process.env.TMPDIR = folder;

const stage = await setStage(folder);
let failed = 0;
try {
  const stopLoad = stage.client.load();
  const findings = await dashboardFindings(stage);
  console.log(table([{ head: 'Panel', width: 44 }, { head: 'Query' }, { head: 'Answer', width: 44 }], findings.map(({ panel, query, answer }) => [panel, query, answer]), '')); // prettier-ignore
  failed += findings.filter(({ hasData }) => !hasData).length;
  await stopLoad();

  console.log(`\nThe alerts, with ${shortenings}:\n`);
  const rows: string[][] = [];
  for (const fault of faults) {
    await stage.alerts.calm();
    const seconds = secondsSince(performance.now());
    const cure = await fault.begin(stage);
    const fired: Record<string, string> = {};
    const resolved: Record<string, string> = {};
    const told = await stage.alerts.all(fault.alerts, 'firing', (name) => (fired[name] = seconds()));
    await cure();
    const cured = secondsSince(performance.now());
    const ended = told && (await stage.alerts.all(fault.alerts, 'resolved', (name) => (resolved[name] = cured())));
    for (const name of fault.alerts) {
      rows.push([name, fault.what, fired[name] ?? 'NEVER', resolved[name] ?? 'NEVER']);
      console.error(rows.at(-1)!.join(', '));
    }
    if (!ended) failed += 1;
  }
  const heads = [{ head: 'Alert' }, { head: 'Fault', width: 50 }, { head: 'Fired after' }, { head: 'Resolved after' }];
  console.log(table(heads, rows, ''));
  const untried = alertNames.filter((name) => !faults.some(({ alerts }) => alerts.includes(name)));
  if (untried.length > 0) console.log(`No fault makes these fire: ${untried.join(', ')}`);
  failed += untried.length;
} finally {
  await stage.end();
  await rm(folder, { recursive: true, force: true });
}
console.log(failed === 0 ? '\nAll alerts fired and were resolved, and every panel has data.' : `\n${failed} failed.`);
process.exit(failed === 0 ? 0 : 1);

function secondsSince(began: number): () => string {
  return () => `${Math.round((performance.now() - began) / 1000)} s`;
}
