/** Rounds with a full disk, in the process tree that has the disk: `disk-rounds.ts` runs it. Results are JSON on standard output. */
import { makeGoodClips } from './clips.ts';
import { fullDisk } from './full-disk.ts';
import { runLanes } from './lanes.ts';
import { lineOf } from './report.ts';
import { killSupervised } from './supervised.ts';
import type { RoundResult } from './round.ts';

const [dataDir, rounds, seed] = process.argv.slice(2) as [string, string, string];
process.on('exit', killSupervised);
const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort());

const plan = Array.from({ length: Number(rounds) }, (_, index) => ({ number: index + 1, kind: fullDisk }));
const results: RoundResult[] = [];
const tell = (text: string) => process.stderr.write(`${text}\n`);
const options = { lanes: 1, seed, signal: interrupted.signal, tell, clipsFor: makeGoodClips, dataDir };
const faults = await runLanes(plan, options, (_lane, result) => {
  results.push(result);
  tell(lineOf('on a small disk', result));
});
process.stdout.write(JSON.stringify({ results, faults }), () => process.exit());
