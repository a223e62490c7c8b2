/** Rounds at the same time: recovery is mostly waiting. */
import { chmod, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeClips } from '../rig/clips.ts';
import { killAllMachines } from '../rig/machine.ts';
import { worldFolder } from '../rig/world.ts';
import { startLane } from './lane.ts';
import { lineOf } from './report.ts';
import { runRound } from './round.ts';
import type { Clips } from '../rig/clips.ts';
import type { Lane } from './lane.ts';
import type { PlannedRound, RoundResult } from './round.ts';

interface Options {
  lanes: number;
  /** A lane in words. */
  where: (lane: number) => string;
  seed: string;
  /** Ends everything as it is. */
  interrupted: AbortSignal;
  tell: (text: string) => void;
  /** What clients upload, made in a folder. */
  clipsFor?: (folder: string) => Promise<Clips>;
  /** Where a single lane keeps its files, if not in its own folder. */
  dataDir?: string;
}

export interface LanesResult {
  results: RoundResult[];
  /** What kept lanes from going on. */
  faults: string[];
}

/** A round that does not hit comes again, with other times. */
const triesToHit = 4;
const repeatNumbers = 10_000;
const logLinesShown = 40;

/** Runs every round in one of some lanes, and leaves no process and no folder behind. */
export async function runLanes(plan: readonly PlannedRound[], options: Options): Promise<LanesResult> {
  const { lanes, where, seed, interrupted, tell, clipsFor = makeClips, dataDir } = options;
  const folder = await worldFolder();
  const waiting = [...plan];
  const results: RoundResult[] = [];
  const faults: string[] = [];
  const started: Promise<Lane>[] = [];

  const runLane = async (number: number, clips: Clips) => {
    const own = join(folder, String(number));
    await mkdir(own);
    await chmod(own, 0o711);
    const start = startLane(own, dataDir);
    started.push(start);
    const lane = await start;
    for (let round = waiting.shift(); round !== undefined && !interrupted.aborted; round = waiting.shift()) {
      const result = await runRound(lane, round, seed, clips).catch((error: unknown) => {
        if (!interrupted.aborted) tell(lastWords(number, lane));
        throw error;
      });
      if (interrupted.aborted) return;
      results.push(result);
      tell(lineOf(where(number), result));
      if (result.breaches.length > 0) tell(lastWords(number, lane));
      const next = { ...round, number: round.number + repeatNumbers };
      if (!result.isHit && next.number < triesToHit * repeatNumbers) waiting.push(next);
    }
  };
  const guarded = (number: number, clips: Clips) =>
    runLane(number, clips).catch((error: unknown) => {
      if (interrupted.aborted) return;
      faults.push(`lane ${number}: ${error instanceof Error ? error.stack : String(error)}`);
      tell(faults.at(-1)!);
    });

  try {
    const clips = await clipsFor(folder);
    const numbers = Array.from({ length: Math.min(lanes, plan.length) }, (_, index) => index + 1);
    const interruption = new Promise((resolve) => interrupted.addEventListener('abort', resolve));
    await Promise.race([Promise.all(numbers.map((number) => guarded(number, clips))), interruption]);
  } finally {
    if (interrupted.aborted) killAllMachines();
    for (const start of await Promise.allSettled(started)) if (start.status === 'fulfilled') await start.value.close();
    await rm(folder, { recursive: true, force: true });
  }
  if (waiting.length > 0) faults.push(`${waiting.length} rounds were not run`);
  return { results, faults };
}

/** The end of what a lane's processes logged. */
function lastWords(number: number, { api, worker }: Lane): string {
  const wordsOf = ({ name, lines }: Lane['api']) =>
    lines
      .filter((line) => !line.includes('"method":"GET"'))
      .slice(-logLinesShown)
      .map((line) => `    lane ${number} ${name}: ${line}`);
  return [api, worker].flatMap(wordsOf).join('\n');
}
