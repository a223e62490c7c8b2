/** One crash: uploads of several clients, the strike, the recovery, and everything that is looked at afterwards. */
import { audit } from '../../src/audit/audit.ts';
import { inspect } from '../rig/inspection.ts';
import { randomOf } from '../rig/random.ts';
import { tell } from '../rig/suite.ts';
import { chooseUpload, newOutcome, uploadAndFollow } from '../rig/uploads.ts';
import { auditedFiles } from '../support/service/audit.ts';
import type { Clips } from '../rig/clips.ts';
import type { Kind } from './kinds.ts';
import type { Lane } from './lane.ts';

export interface Result {
  /** The crash happened where it was meant to. */
  isHit: boolean;
  breaches: string[];
}

const uploadsPerRound = 5;
const longestMs = 500_000;
/** A round that does not hit comes again, with other times. */
const triesToHit = 4;
const logLinesShown = 40;

/** @param number repeats which crash comes when, and what is uploaded; what the machine makes of it is its own */
export async function runRound(lane: Lane, kind: Kind, number: number, clips: Clips): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    const result = await strikeOnce(lane, kind, number * 10 + tries, clips);
    if (result.isHit || result.breaches.length > 0 || tries === triesToHit) return result;
  }
}

async function strikeOnce(lane: Lane, kind: Kind, number: number, clips: Clips): Promise<Result> {
  const random = randomOf(number);
  await lane.ready();
  const began = performance.now();
  const begin = `round-${number}-`;
  const outcomes = Array.from({ length: uploadsPerRound }, (_, index) =>
    newOutcome(chooseUpload(`${begin}${index + 1}`, random, clips, 1_500)),
  );
  const [idle, tooLate] = [new AbortController(), AbortSignal.timeout(longestMs)];
  const clients = outcomes.map((outcome) => uploadAndFollow(lane.server, outcome, tooLate));
  const settled = Promise.all(clients).finally(() => idle.abort());

  const how = new Set<string>();
  const strike = kind.strike({ lane, random, idle: idle.signal, struck: (where) => how.add(where) });
  // What is committed is sound at every moment, also before anything has recovered.
  const atOnce = strike.then(() => brokenNow(lane));
  const [isHit, brokenAtOnce] = await Promise.all([strike, atOnce, settled]);
  await lane.ready();
  const breaches = [...brokenAtOnce, ...(await inspect(lane, outcomes, begin))];
  const seconds = Math.round((performance.now() - began) / 1000);
  const where = how.size === 0 ? '' : ` (${[...how].join(', ')})`;
  tell(`${breaches.length === 0 ? '✓' : '✗'} ${kind.name}${where}: ${seconds} s${isHit ? '' : ', not hit'}`);
  if (breaches.length > 0) tell([...breaches, lastWords(lane)].join('\n'));
  return { isHit, breaches };
}

async function brokenNow({ db, dataDir }: Lane): Promise<string[]> {
  const { checks } = await audit({ db, ...auditedFiles(dataDir) });
  const broken = checks.filter(({ breaches }) => breaches > 0);
  return broken.map(({ rule, examples }) => `right after the crash: ${rule} (${JSON.stringify(examples.slice(0, 3))})`);
}

/** The end of what its processes logged. */
function lastWords({ machines }: Lane): string {
  const linesOf = ({ name, lines }: Lane['api']) =>
    lines
      .filter((line) => !line.includes('"method":"GET"'))
      .slice(-logLinesShown)
      .map((line) => `    ${name}: ${line}`);
  return machines.flatMap(linesOf).join('\n');
}
