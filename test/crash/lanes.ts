/** Rounds at the same time: recovery is mostly waiting. */
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeClips } from './clips.ts';
import { startLane } from './lane.ts';
import { runRound } from './round.ts';
import { killSupervised } from './supervised.ts';
import type { Lane } from './lane.ts';
import type { Clips } from './clips.ts';
import type { PlannedRound, RoundResult } from './round.ts';

interface Options {
  lanes: number;
  seed: string;
  /** Ends everything as it is. */
  signal: AbortSignal;
  tell: (text: string) => void;
  /** What clients upload, made in a folder. */
  clipsFor?: (folder: string) => Promise<Clips>;
  /** Where a single lane keeps its files, if not in its own folder. */
  dataDir?: string;
}

/** A round that does not hit comes again, with other times. */
const triesToHit = 4;
const repeatNumbers = 10_000;
const logLinesShown = 40;

/**
 * Runs every round in one of some lanes, and leaves no process and no folder behind.
 *
 * @returns what kept lanes from going on
 */
export async function runLanes(
  plan: readonly PlannedRound[],
  { lanes, seed, signal, tell, clipsFor = makeClips, dataDir }: Options,
  onResult: (lane: number, result: RoundResult) => void,
): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'transcription-crash-'));
  const waiting = [...plan];
  const faults: string[] = [];
  const started: Promise<Lane>[] = [];

  const runLane = async (number: number, clips: Clips) => {
    const own = join(folder, String(number));
    await mkdir(own);
    await chmod(own, 0o711);
    const start = startLane(own, dataDir);
    started.push(start);
    const lane = await start;
    for (let round = waiting.shift(); round !== undefined && !signal.aborted; round = waiting.shift()) {
      const result = await runRound(lane, round, seed, clips).catch((error: unknown) => {
        if (!signal.aborted) tell(lastWords(number, lane));
        throw error;
      });
      if (signal.aborted) return;
      onResult(number, result);
      if (result.breaches.length > 0) tell(lastWords(number, lane));
      const next = { ...round, number: round.number + repeatNumbers };
      if (!result.isHit && next.number < triesToHit * repeatNumbers) waiting.push(next);
    }
  };
  const guarded = (number: number, clips: Clips) =>
    runLane(number, clips).catch((error: unknown) => {
      if (signal.aborted) return;
      faults.push(`lane ${number}: ${error instanceof Error ? error.stack : String(error)}`);
      tell(faults.at(-1)!);
    });

  try {
    await chmod(folder, 0o711);
    const clips = await clipsFor(folder);
    const numbers = Array.from({ length: Math.min(lanes, plan.length) }, (_, index) => index + 1);
    const interrupted = new Promise((resolve) => signal.addEventListener('abort', resolve));
    await Promise.race([Promise.all(numbers.map((number) => guarded(number, clips))), interrupted]);
  } finally {
    if (signal.aborted) killSupervised();
    for (const start of await Promise.allSettled(started)) if (start.status === 'fulfilled') await start.value.close();
    await rm(folder, { recursive: true, force: true });
  }
  return waiting.length === 0 ? faults : [...faults, `${waiting.length} rounds were not run`];
}

/** The end of what a lane's processes logged. */
function lastWords(number: number, lane: Lane): string {
  const processes = [
    ['api', lane.api],
    ['worker', lane.worker],
  ] as const;
  return processes
    .flatMap(([name, { lines }]) =>
      lines
        .filter((line) => !line.includes('"method":"GET"'))
        .slice(-logLinesShown)
        .map((line) => `    lane ${number} ${name}: ${line}`),
    )
    .join('\n');
}
