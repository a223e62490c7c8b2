/** The ways to crash. Each strikes once in a round, and says whether it hit what it aims at. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isRecognizing } from '../rig/held.ts';
import { committed, completed, received, recognized, stored, taken } from '../rig/points.ts';
import { freeze } from './freeze.ts';
import { completedWithAudio, countDeadJobs } from './rows.ts';
import type { Point } from '../rig/points.ts';
import type { Random } from '../rig/random.ts';
import type { WireRelay } from '../rig/wire-relay.ts';
import type { Lane } from './lane.ts';

/** What a kind has to work with. */
export interface Scene {
  lane: Lane;
  random: Random;
  /** Whether clients still wait for something. */
  isBusy(): boolean;
  /** Aborts when they don't any more. */
  idle: AbortSignal;
  /** Notes the moment; recovery is counted from the last one. */
  struck(how?: string): void;
}

export interface Kind {
  name: string;
  /** Roughly, for the order of rounds: the longest first. */
  seconds: number;
  strike(scene: Scene): Promise<boolean>;
}

type Crash = (lane: Lane, random: Random) => Promise<void> | void;

const api: Crash = (lane) => lane.api.killAlone();
const worker: Crash = (lane) => lane.worker.killAlone();
const both: Crash = (lane) => [lane.api, lane.worker].forEach((process) => process.killAlone());
const postgres: Crash = (lane, random) => lane.crashPostgres(random.between(0, 3_000));
const workerAndPostgres: Crash = (lane, random) => {
  lane.worker.killAlone();
  return postgres(lane, random);
};

/** At any time in the life of the round's uploads. */
const anyTime =
  (crash: Crash, latestMs: number): Kind['strike'] =>
  async ({ lane, random, isBusy, struck }) => {
    const afterMs = random.between(50, latestMs);
    await sleep(afterMs);
    const isHit = isBusy();
    struck(`after ${afterMs} ms`);
    await crash(lane, random);
    return isHit;
  };

/** Waits until the cable is at a point, and crashes in that moment. */
function at(relayOf: (lane: Lane) => WireRelay, points: Point[], crash: Crash, nth = 3): Kind['strike'] {
  return async ({ lane, random, idle, struck }) => {
    const point = random.oneOf(points);
    const relay = relayOf(lane);
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    idle.addEventListener('abort', () => resolve(false));
    relay.watch(point, random.between(1, nth), () => {
      struck(point.name);
      Promise.resolve(crash(lane, random)).then(() => resolve(true), reject);
    });
    const isHit = await promise;
    relay.unwatch();
    return isHit;
  };
}

const apiCable = (lane: Lane) => lane.apiRelay;
const workerCable = (lane: Lane) => lane.workerRelay;

const whileRecognizing: Kind['strike'] = async ({ lane, idle, struck }) => {
  while (!idle.aborted) {
    if (await isRecognizing(lane.db, lane.worker, lane.dataDir)) {
      lane.worker.killAlone();
      struck();
      return true;
    }
    await sleep(10);
  }
  return false;
};

const beforeAudioIsGone: Kind['strike'] = async (scene) => {
  const wasThere = await at(workerCable, completed, worker)(scene);
  return wasThere && (await completedWithAudio(scene.lane)) > 0;
};

/** Whenever a job is taken, until one of them has used up its attempts: a successor has to be made for it. */
const loopAtTheClaim: Kind['strike'] = async (scene) => {
  const strike = at(workerCable, [taken], worker, 1);
  const before = await countDeadJobs(scene.lane);
  do {
    if (!(await strike(scene))) return false;
  } while ((await countDeadJobs(scene.lane)) === before);
  return true;
};

export const kinds: Kind[] = [
  { name: 'before every claim, until a job dies: worker', seconds: 100, strike: loopAtTheClaim },
  { name: 'frozen until another has its job: worker', seconds: 40, strike: freeze },
  { name: 'decoded, not recognized: worker', seconds: 35, strike: whileRecognizing },
  { name: 'recognized, not stored: worker', seconds: 35, strike: at(workerCable, recognized, worker) },
  { name: 'stored, not acknowledged: worker', seconds: 35, strike: at(workerCable, [stored], worker) },
  { name: 'stored, not acknowledged: PostgreSQL', seconds: 15, strike: at(workerCable, [stored], postgres) },
  { name: 'completed, audio not deleted: worker', seconds: 35, strike: beforeAudioIsGone },
  { name: 'any time: worker', seconds: 35, strike: anyTime(worker, 5_000) },
  { name: 'any time: API and worker', seconds: 35, strike: anyTime(both, 5_000) },
  { name: 'any time: worker and PostgreSQL', seconds: 35, strike: anyTime(workerAndPostgres, 5_000) },
  { name: 'any time: PostgreSQL', seconds: 15, strike: anyTime(postgres, 5_000) },
  { name: 'any time: API', seconds: 10, strike: anyTime(api, 2_500) },
  { name: 'received, not committed: API', seconds: 10, strike: at(apiCable, received, api) },
  { name: 'committed, not answered: API', seconds: 10, strike: at(apiCable, [committed], api) },
  { name: 'committed, not answered: PostgreSQL', seconds: 10, strike: at(apiCable, [committed], postgres) },
];
