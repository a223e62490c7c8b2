/** Rounds with a full disk, in the process tree that has the disk. */
import { makeGoodClips } from '../rig/clips.ts';
import { fullDisk } from './full-disk.ts';
import { runLanes } from './lanes.ts';
import type { Run } from '../rig/world.ts';
import type { LanesResult } from './lanes.ts';

interface Rounds {
  dataDir: string;
  rounds: number;
  seed: string;
}

export const run: Run<Rounds, LanesResult> = ({ dataDir, rounds, seed }, tell, interrupted) => {
  const plan = Array.from({ length: rounds }, (_, index) => ({ number: index + 1, kind: fullDisk }));
  const where = () => 'on a small disk';
  return runLanes(plan, { lanes: 1, where, seed, interrupted, tell, clipsFor: makeGoodClips, dataDir });
};
