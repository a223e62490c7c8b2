/** One crash: uploads of several clients, the strike, the recovery, and everything that is looked at afterwards. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { brokenNow, leftProcesses, sweepAfterGrace, verify } from '../rig/aftermath.ts';
import { compare } from '../rig/inspection.ts';
import { randomOf } from '../rig/random.ts';
import { uploadRows } from '../rig/rows.ts';
import { newOutcome, sendUntilDecided, uploadAndFollow } from '../rig/uploads.ts';
import type { Clips } from '../rig/clips.ts';
import type { Findings } from '../rig/inspection.ts';
import type { Random } from '../rig/random.ts';
import type { Outcome, Upload } from '../rig/uploads.ts';
import type { Kind } from './kinds.ts';
import type { Lane } from './lane.ts';

export interface PlannedRound {
  number: number;
  kind: Kind;
}

export interface RoundResult extends Findings {
  number: number;
  kind: string;
  /** Where or when exactly. */
  how: string;
  /** The crash happened where it was meant to. */
  isHit: boolean;
  /** From the (last) crash until every client knew how its uploads ended. */
  recoverySeconds: number;
}

const uploadsPerRound = 5;
/** After the (last) crash. */
const recoveryLimitMs = 600_000;

/** @param seed repeats which crash comes when, and what is uploaded; what the machine makes of it is its own */
export async function runRound(lane: Lane, { number, kind }: PlannedRound, seed: string, clips: Clips) {
  const random = randomOf(`${seed}:${number}`);
  await lane.ready();
  const outcomes: Outcome[] = planUploads(number, random, clips).map(newOutcome);

  const idle = new AbortController();
  let struckAt = performance.now();
  const tooLate = new AbortController();
  const watch = setInterval(() => performance.now() - struckAt > recoveryLimitMs && tooLate.abort(), 1_000);
  const clients = outcomes.map((outcome) => uploadAndFollow(lane.server, outcome, tooLate.signal));
  const settled = Promise.all(clients).finally(() => {
    clearInterval(watch);
    idle.abort();
  });

  const how: string[] = [];
  const isBusy = () => !idle.signal.aborted;
  const struck = (where?: string) => {
    struckAt = performance.now();
    if (where !== undefined) how.push(where);
  };
  const strike = kind.strike({ lane, random, isBusy, idle: idle.signal, struck });
  // What is committed is sound at every moment, also before anything has recovered.
  const atOnce = strike.then(() => brokenNow(lane.db, lane.dataDir));
  const [isHit, brokenAtOnce] = await Promise.all([strike, atOnce, settled]);
  const recoverySeconds = (Math.max(struckAt, ...outcomes.map(({ finalAt }) => finalAt ?? 0)) - struckAt) / 1000;

  const findings = await lookAfterwards(lane, number, outcomes);
  const breaches = [...brokenAtOnce.map((rule) => `right after the crash: ${rule}`), ...findings.breaches];
  const result = { number, kind: kind.name, how: [...new Set(how)].join(', '), isHit, recoverySeconds };
  return { ...result, ...findings, breaches } satisfies RoundResult;
}

/** When the service is whole again, and everything that a crash left is old enough for the sweep. */
async function lookAfterwards(lane: Lane, round: number, outcomes: Outcome[]): Promise<Findings> {
  await lane.ready();
  const repeated = await sendAgain(lane, outcomes);
  const left = await leftProcesses([lane.api, lane.worker]);
  const findings = compare(await uploadRows(lane.db, lane.account.id, `round-${round}-`), outcomes);
  await sweepAfterGrace(lane.environment);
  const broken = [...(await leftFiles(lane)), ...(await verify(lane.environment))];
  const ofProcesses = [lane.api, lane.worker].flatMap(({ faults }) => faults.splice(0));
  return { ...findings, breaches: [...findings.breaches, ...repeated, ...left, ...broken, ...ofProcesses] };
}

/** Files that no sweep took away. */
async function leftFiles({ dataDir }: Lane): Promise<string[]> {
  const folders = ['work', join('audio', 'incoming')];
  const left = await Promise.all(
    folders.map(async (folder) => (await readdir(join(dataDir, folder))).map((name) => join(folder, name))),
  );
  return left.flat().map((file) => `${file} is left`);
}

export function planUploads(round: number, random: Random, clips: Clips): Upload[] {
  return Array.from({ length: uploadsPerRound }, (_, index) => ({
    name: `round-${round}-upload-${index + 1}`,
    // One in each round has nothing to charge.
    clip: random.oneOf(index === 0 ? clips.others : clips.speech),
    startsAfterMs: random.between(0, 1_500),
    isImpatient: index === 1,
    follows: random.oneOf(['by polling', 'by waiting'] as const),
  }));
}

/** A client that forgot what it was told asks again with the same key, and is told the same. */
async function sendAgain(lane: Lane, outcomes: Outcome[]): Promise<string[]> {
  const accepted = outcomes.filter(({ answers }) => answers.length > 0);
  const forgetful = accepted.map(({ upload }) => newOutcome(upload));
  const signal = AbortSignal.timeout(500_000);
  await Promise.all(forgetful.map((outcome) => sendUntilDecided(lane.server, outcome, signal)));
  return accepted.flatMap(({ upload, answers: [before] }, index) => {
    const [now] = forgetful[index]!.answers;
    const isSame = now?.isReplay === true && now.sessionId === before!.sessionId && now.jobId === before!.jobId;
    return isSame ? [] : [`${upload.name} sent again got ${JSON.stringify(now)} instead of ${JSON.stringify(before)}`];
  });
}
