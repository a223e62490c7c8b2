/** `npm run test:crash`: kills the service in every way, fills its disk, and looks for what was lost, cut or counted twice. */
import { parseArgs } from 'node:util';
import { explain, interruption, sayNotRun, tell } from '../rig/suite.ts';
import { runDiskRounds } from './disk-rounds.ts';
import { fullDisk } from './full-disk.ts';
import { kinds } from './kinds.ts';
import { runLanes } from './lanes.ts';
import { planRounds } from './plan.ts';
import { figuresOf, tableOf } from './report.ts';

const usage = `npm run test:crash -- [--rounds N] [--disk-rounds N] [--seed S] [--lanes N] [--kind WORDS]… [--json]

  --rounds N       how many crashes (each kind once)
  --disk-rounds N  how often the disk fills up, in rounds of their own (3; with --kind none)
  --seed S         repeats a run: which crashes, when, and what is uploaded (1)
  --lanes N        services that run at the same time, each with its own database and folder (4)
  --kind WORDS     only kinds of crashes with these words in their name
  --json           the figures as JSON on standard output; progress goes to standard error`;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: String(kinds.length) },
    'disk-rounds': { type: 'string' },
    seed: { type: 'string', default: '1' },
    lanes: { type: 'string', default: '4' },
    kind: { type: 'string', multiple: true, default: [] },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const { seed, kind } = values;
const [rounds, lanes] = [Number(values.rounds), Number(values.lanes)];
const diskRounds = Number(values['disk-rounds'] ?? (kind.length > 0 ? 0 : 3));
explain(usage, values.help, [lanes, rounds + diskRounds]);
explain(usage, values.help, [rounds, diskRounds], 0);

const interrupted = interruption();
const began = performance.now();
const plan = planRounds(rounds, seed, kind);
// At the same time: most of it is waiting for a recovery.
const [crashed, onDisk] = await Promise.all([
  runLanes(plan, { lanes, where: (lane) => `in lane ${lane}`, seed, interrupted, tell }),
  runDiskRounds(diskRounds, seed, interrupted, tell),
]);
const results = [...crashed.results, ...(onDisk?.results ?? [])];
const faults = [...crashed.faults, ...(onDisk?.faults ?? [])];

const kindNames = new Set([...plan.map((round) => round.kind.name), ...results.map((result) => result.kind)]);
const figures = [...kindNames].map((name) => figuresOf(name, results.filter((result) => result.kind === name))); // prettier-ignore
const all = figuresOf('all', results);
const neverHit = figures.filter(({ hit }) => hit === 0).map((row) => row.kind);
const notRun = onDisk === undefined ? [`${fullDisk.name}, since no disk may be mounted here`] : [];
const isClean = faults.length + all.breaches === 0;
const isSound = isClean && neverHit.length === 0 && !interrupted.aborted;

if (values.json) {
  const breaches = results.flatMap((result) => result.breaches);
  const report = { isSound, seed, kinds: figures, all, neverHit, notRun, breaches, faults };
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
} else {
  process.stdout.write(`\n${tableOf([...figures, all])}\n`);
  notRun.forEach(sayNotRun);
}
if (interrupted.aborted) tell('Interrupted: the other rounds were not run.');
else if (neverHit.length > 0) tell(`Never hit: ${neverHit.join('; ')}`);
const minutes = ((performance.now() - began) / 60_000).toFixed(1);
const verdict = isClean ? 'nothing lost, nothing cut, nothing charged twice, nothing there twice' : 'NOT SOUND';
tell(`${results.length} rounds in ${minutes} minutes with seed ${seed}: ${verdict}`);
process.exit(isSound ? 0 : 1);
