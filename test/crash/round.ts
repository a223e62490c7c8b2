/** One crash: uploads of several clients, the strike, the recovery, and everything that is looked at afterwards. */
import { brokenNow, leftFiles, leftProcesses, sweepAfterGrace, verify } from './aftermath.ts';
import { inspectUploads } from './inspection.ts';
import { randomOf } from './random.ts';
import { sendUntilDecided, uploadAndFollow } from './uploads.ts';
import type { Clips } from './clips.ts';
import type { Findings } from './inspection.ts';
import type { Kind } from './kinds.ts';
import type { Lane } from './lane.ts';
import type { Random } from './random.ts';
import type { Outcome, Upload } from './uploads.ts';

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
  uploads: number;
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
  const outcomes: Outcome[] = planUploads(number, random, clips).map((upload) => ({ upload, answers: [], faults: [] }));

  const idle = new AbortController();
  let struckAt = performance.now();
  const tooLate = new AbortController();
  const watch = setInterval(() => performance.now() - struckAt > recoveryLimitMs && tooLate.abort(), 1_000);
  const clients = outcomes.map((outcome) => uploadAndFollow(serverOf(lane), outcome, tooLate.signal));
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
  const atOnce = strike.then(() => brokenNow(lane));
  const [isHit, brokenAtOnce] = await Promise.all([strike, atOnce, settled]);
  const recoverySeconds = (Math.max(struckAt, ...outcomes.map(({ finalAt }) => finalAt ?? 0)) - struckAt) / 1000;

  const findings = await lookAfterwards(lane, number, outcomes);
  const breaches = [...brokenAtOnce.map((rule) => `right after the crash: ${rule}`), ...findings.breaches];
  const result = { number, kind: kind.name, how: [...new Set(how)].join(', '), isHit, recoverySeconds };
  return { ...result, ...findings, uploads: outcomes.length, breaches } satisfies RoundResult;
}

const serverOf = (lane: Lane) => ({ url: lane.url, key: lane.account.key });

/** When the service is whole again, and everything that a crash left is old enough for the sweep. */
async function lookAfterwards(lane: Lane, round: number, outcomes: Outcome[]): Promise<Findings> {
  await lane.ready();
  const repeated = await sendAgain(lane, outcomes);
  const left = await leftProcesses(lane);
  const findings = await inspectUploads(lane, round, outcomes);
  await sweepAfterGrace(lane);
  const broken = [...(await leftFiles(lane)), ...(await verify(lane))];
  const ofProcesses = [lane.api, lane.worker].flatMap(({ faults }) => faults.splice(0));
  return { ...findings, breaches: [...findings.breaches, ...repeated, ...left, ...broken, ...ofProcesses] };
}

function planUploads(round: number, random: Random, clips: Clips): Upload[] {
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
  const forgetful = accepted.map(({ upload }): Outcome => ({ upload, answers: [], faults: [] }));
  await Promise.all(
    forgetful.map((outcome) => sendUntilDecided(serverOf(lane), outcome, AbortSignal.timeout(500_000))),
  );
  return accepted.flatMap(({ upload, answers: [before] }, index) => {
    const [now] = forgetful[index]!.answers;
    const isSame = now?.isReplay === true && now.sessionId === before!.sessionId && now.jobId === before!.jobId;
    return isSame ? [] : [`${upload.name} sent again got ${JSON.stringify(now)} instead of ${JSON.stringify(before)}`];
  });
}
