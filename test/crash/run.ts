/** `npm run test:crash`: kills the service in every way, fills its disk, and looks for what was lost, cut or counted twice. */
import { spawnSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { explain, interruption, sayNotRun, tell } from '../rig/suite.ts';
import { runInside, worldFolder } from '../rig/world.ts';
import { smallDisk } from '../support/faults/small-disk.ts';
import { fullDisk } from './full-disk.ts';
import { kinds } from './kinds.ts';
import { figuresOf, tableOf } from './report.ts';
import type { Result, Scenario } from './scenario.ts';

const usage = `npm run test:crash -- [--rounds N] [--disk-rounds N] [--seed S] [--lanes N] [--kind WORDS]…

  --rounds N       how many crashes (each kind once)
  --disk-rounds N  how often the disk fills up, in rounds of their own (3; with --kind none)
  --seed S         repeats a run: which crashes, when, and what is uploaded (1)
  --lanes N        services that run at the same time, each with its own database and folder (4)
  --kind WORDS     only kinds of crashes with these words in their name`;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: String(kinds.length) },
    'disk-rounds': { type: 'string' },
    seed: { type: 'string', default: '1' },
    lanes: { type: 'string', default: '4' },
    kind: { type: 'string', multiple: true, default: [] },
    help: { type: 'boolean', default: false },
  },
});
const { seed, kind: only } = values;
const [rounds, lanes] = [Number(values.rounds), Number(values.lanes)];
const wantedDiskRounds = Number(values['disk-rounds'] ?? (only.length > 0 ? 0 : 3));
explain(usage, values.help, [lanes, rounds + wantedDiskRounds]);
explain(usage, values.help, [rounds, wantedDiskRounds], 0);

const interrupted = interruption();
const began = performance.now();
const folder = await worldFolder();
const disk = join(folder, 'disk');
await mkdir(disk);
// Many times what the uploads of a round take, and filled within milliseconds.
const withDisk = [...smallDisk(disk, '16m'), ...asOurselves()];
const mayMount = spawnSync(withDisk[0]!, [...withDisk.slice(1), 'true']).status === 0;
const argument: Scenario = { folder, rounds, lanes, only, disk, seed, diskRounds: mayMount ? wantedDiskRounds : 0 };
const scenario = join(import.meta.dirname, 'scenario.ts');
const inside = { world: mayMount ? withDisk : [], scenario, argument, folder };
const { results, faults } = await runInside<Result>(inside, interrupted, tell).catch((error: unknown): Result => ({
  results: [],
  faults: [String(error)],
}));

const byLength = kinds.toSorted((one, other) => other.seconds - one.seconds);
const names = [...byLength, fullDisk].map(({ name }) => name).filter((name) => results.some(({ kind }) => kind === name)); // prettier-ignore
const figures = names.map((name) => figuresOf(name, results.filter(({ kind }) => kind === name))); // prettier-ignore
const all = figuresOf('all', results);
const neverHit = figures.filter(({ hit }) => hit === 0).map((row) => row.kind);
console.log(`\n${tableOf([...figures, all])}`);
if (argument.diskRounds < wantedDiskRounds) sayNotRun(`${fullDisk.name}, since no disk may be mounted here`);
for (const fault of faults) tell(fault);
if (interrupted.aborted) tell('Interrupted: the other rounds were not run.');
else if (neverHit.length > 0) tell(`Never hit: ${neverHit.join('; ')}`);
const isClean = faults.length + all.breaches === 0;
const minutes = ((performance.now() - began) / 60_000).toFixed(1);
const verdict = isClean ? 'nothing lost, nothing cut, nothing charged twice, nothing there twice' : 'NOT SOUND';
tell(`${results.length} rounds in ${minutes} minutes with seed ${seed}: ${verdict}`);
process.exit(isClean && neverHit.length === 0 && !interrupted.aborted ? 0 : 1);

/** Who is no root becomes one to mount; PostgreSQL runs only as somebody else. */
function asOurselves(): string[] {
  const [user, group] = [process.getuid!(), process.getgid!()];
  return user === 0 ? [] : ['unshare', '--user', `--map-user=${user}`, `--map-group=${group}`];
}
