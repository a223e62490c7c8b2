/** Rounds at the same time, since recovery is mostly waiting: those of crashes in some lanes, those of a full disk in one more. */
import { chmod, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { makeClips, onlyGood } from '../rig/clips.ts';
import { fullDisk } from './full-disk.ts';
import { startLane } from './lane.ts';
import { planRounds } from './plan.ts';
import { lineOf } from './report.ts';
import { runRound } from './round.ts';
import type { Clips } from '../rig/clips.ts';
import type { Run } from '../rig/world.ts';
import type { Lane } from './lane.ts';
import type { PlannedRound, RoundResult } from './round.ts';

export interface Scenario {
  folder: string;
  rounds: number;
  lanes: number;
  /** Words that the names of the kinds have, none for all kinds. */
  only: string[];
  diskRounds: number;
  /** Where the small disk is. */
  disk: string;
  seed: string;
}

export interface Result {
  results: RoundResult[];
  /** What kept lanes from going on. */
  faults: string[];
}

/** A round that does not hit comes again, with other times. */
const triesToHit = 4;
const repeatNumbers = 10_000;
const logLinesShown = 40;

export const run: Run<Scenario, Result> = async (scenario, tell, interrupted) => {
  const { folder, rounds, lanes, only, diskRounds, disk, seed } = scenario;
  const results: RoundResult[] = [];
  const faults: string[] = [];
  const started: Promise<Lane>[] = [];

  const runLane = async (where: string, waiting: PlannedRound[], clips: Clips, dataDir?: string) => {
    const own = await mkdtemp(join(folder, 'lane-'));
    await chmod(own, 0o711);
    const start = startLane(own, dataDir);
    started.push(start);
    const lane = await start;
    for (let round = waiting.shift(); round !== undefined && !interrupted.aborted; round = waiting.shift()) {
      const result = await runRound(lane, round, seed, clips).catch((error: unknown) => {
        if (!interrupted.aborted) tell(lastWords(where, lane));
        throw error;
      });
      if (interrupted.aborted) return;
      results.push(result);
      tell(lineOf(where, result));
      if (result.breaches.length > 0) tell(lastWords(where, lane));
      const next = { ...round, number: round.number + repeatNumbers };
      if (!result.isHit && next.number < triesToHit * repeatNumbers) waiting.push(next);
    }
  };
  const guarded = (where: string, ...rest: [PlannedRound[], Clips, string?]) =>
    runLane(where, ...rest).catch((error: unknown) => {
      if (!interrupted.aborted) faults.push(`${where}: ${error instanceof Error ? error.stack : String(error)}`);
    });

  const crashes = planRounds(rounds, seed, only);
  const fills = Array.from({ length: diskRounds }, (_, index) => ({ number: index + 1, kind: fullDisk }));
  const clips = await makeClips(join(folder, 'clips'));
  const count = Math.min(lanes, crashes.length);
  const running = Array.from({ length: count }, (_, index) => guarded(`in lane ${index + 1}`, crashes, clips));
  if (diskRounds > 0) running.push(guarded('on a small disk', fills, await onlyGood(clips, folder), disk));
  const interruption = new Promise((resolve) => interrupted.addEventListener('abort', resolve));
  await Promise.race([Promise.all(running), interruption]);
  for (const start of await Promise.allSettled(started)) if (start.status === 'fulfilled') await start.value.close();
  const left = crashes.length + fills.length;
  if (left > 0) faults.push(`${left} rounds were not run`);
  return { results, faults };
};

/** The end of what a lane's processes logged. */
function lastWords(where: string, { api, worker }: Lane): string {
  const wordsOf = ({ name, lines }: Lane['api']) =>
    lines
      .filter((line) => !line.includes('"method":"GET"'))
      .slice(-logLinesShown)
      .map((line) => `    ${where} ${name}: ${line}`);
  return [api, worker].flatMap(wordsOf).join('\n');
}
