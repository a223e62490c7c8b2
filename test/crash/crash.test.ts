/**
 * Kills the service in every way, fills its disk, and looks for what was lost, cut or counted twice. Rounds go on at the
 * same time, since recovery is mostly waiting: those of crashes in some lanes, those of a full disk in one more.
 */
import { makeClips, onlyGood } from '../rig/clips.ts';
import { useFolder } from '../support/use-folder.ts';
import { fullDisk } from './full-disk.ts';
import { kinds } from './kinds.ts';
import { startLane } from './lane.ts';
import { runRound } from './round.ts';
import type { Clips } from '../rig/clips.ts';
import type { Kind } from './kinds.ts';
import type { Lane } from './lane.ts';
import type { Result } from './round.ts';

const numberOf = (name: string, usual: number) => Number(process.env[name] ?? usual);
const [times, lanes, seed] = [numberOf('CRASH_TIMES', 1), numberOf('CRASH_LANES', 4), numberOf('CRASH_SEED', 1)];
const { CRASH_KINDS: only = '', CRASH_DISK: disk } = process.env;
const wanted = kinds.filter(({ name }) => name.includes(only)).toSorted((one, other) => other.seconds - one.seconds);

interface Round {
  kind: Kind;
  number: number;
  result: PromiseWithResolvers<Result>;
}

const roundsOf = (kind: Kind, count: number): Round[] =>
  Array.from({ length: count }, (_, index) => {
    const result = Promise.withResolvers<Result>();
    // Whoever asks for it, asks later.
    result.promise.catch(() => {});
    return { kind, number: seed * 1_000_000 + kinds.indexOf(kind) * 10_000 + index, result };
  });

async function run(starting: Promise<Lane>, waiting: Round[], clips: Clips): Promise<void> {
  for (let round = waiting.shift(); round !== undefined; round = waiting.shift()) {
    const { kind, number, result } = round;
    await starting.then((lane) => runRound(lane, kind, number, clips)).then(result.resolve, result.reject);
  }
}

const folder = useFolder();
const clips = await makeClips(folder);
const crashes = wanted.flatMap((kind) => roundsOf(kind, times));
const waiting = [...crashes];
for (let lane = 1; lane <= Math.min(lanes, crashes.length); lane += 1) void run(startLane(), waiting, clips);
const fills = disk === undefined ? [] : roundsOf(fullDisk, 3 * times);
if (disk !== undefined) void run(startLane(disk), [...fills], await onlyGood(clips, folder));

const clean = { isHit: true, breaches: [] };

test.each(wanted)('$name → nothing lost, cut, charged twice or there twice', async (kind) => {
  for (const { result } of crashes.filter((round) => round.kind === kind)) expect(await result.promise).toEqual(clean);
});

if (disk !== undefined)
  test('the disk is full for a while → nothing lost, cut, charged twice or there twice', async () => {
    const results = await Promise.all(fills.map(({ result }) => result.promise));
    expect(results.flatMap(({ breaches }) => breaches)).toEqual([]);
    expect(results.some(({ isHit }) => isHit)).toBe(true);
  });
