/** `npm run test:crash`: kills the service in every way, fills its disk, and looks for what was lost, cut or counted twice. */
import { parseArgs } from 'node:util';
import { runDiskRounds } from './disk-rounds.ts';
import { fullDisk } from './full-disk.ts';
import { kinds } from './kinds.ts';
import { runLanes } from './lanes.ts';
import { planRounds } from './plan.ts';
import { figuresOf, lineOf, tableOf } from './report.ts';
import { killSupervised } from './supervised.ts';
import type { RoundResult } from './round.ts';

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
const [rounds, lanes] = [Number(values.rounds), Number(values.lanes)];
const diskRounds = Number(values['disk-rounds'] ?? (values.kind.length > 0 ? 0 : 3));
const isGood = [rounds, diskRounds, lanes - 1].every((number) => Number.isInteger(number) && number >= 0);
const plan = isGood ? planRounds(rounds, values.seed, values.kind) : [];
if (values.help || !isGood || rounds + diskRounds === 0) {
  process.stderr.write(`${usage}\n`);
  process.exit(values.help ? 0 : 2);
}

process.on('exit', killSupervised);
const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort());

const began = performance.now();
const results: RoundResult[] = [];
const tell = (text: string) => process.stderr.write(`${text}\n`);
const { seed } = values;
const { signal } = interrupted;
// At the same time: most of it is waiting for a recovery.
const [laneFaults, disk] = await Promise.all([
  runLanes(plan, { lanes, seed, signal, tell }, (lane, result) => {
    results.push(result);
    tell(lineOf(`in lane ${lane}`, result));
  }),
  runDiskRounds(diskRounds, seed, signal),
]);
results.push(...disk.results);
const faults = [...laneFaults, ...disk.faults];

const kindNames = new Set([...plan.map(({ kind }) => kind.name), ...results.map(({ kind }) => kind)]);
const figures = [...kindNames].map((name) =>
  figuresOf(
    name,
    results.filter(({ kind }) => kind === name),
  ),
);
const all = figuresOf('all', results);
const neverHit = figures.filter(({ hit }) => hit === 0).map(({ kind }) => kind);
const notRun = disk.canRun ? [] : [fullDisk.name];
const isClean = faults.length + all.breaches === 0;
const isSound = isClean && neverHit.length === 0 && !interrupted.signal.aborted;

if (values.json) {
  const breaches = results.flatMap((result) => result.breaches);
  const report = { isSound, seed, kinds: figures, all, neverHit, notRun, breaches, faults };
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
} else {
  process.stdout.write(`\n${tableOf([...figures, all])}\n`);
}
for (const kind of notRun) tell(`Not run: ${kind}, since no disk may be mounted here.`);
if (interrupted.signal.aborted) tell('Interrupted: the other rounds were not run.');
else if (neverHit.length > 0) tell(`Never hit: ${neverHit.join('; ')}`);
const minutes = ((performance.now() - began) / 60_000).toFixed(1);
const verdict = isClean ? 'nothing lost, nothing cut, nothing charged twice, nothing there twice' : 'NOT SOUND';
tell(`${results.length} rounds in ${minutes} minutes with seed ${seed}: ${verdict}`);
process.exit(isSound ? 0 : 1);
