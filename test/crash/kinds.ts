/** The ways to crash. Each strikes once in a round, and says whether it hit what it aims at. */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { committed, completed, received, recognized, stored, taken } from '../rig/points.ts';
import { descendantsOf } from '../rig/processes.ts';
import { machineOf } from '../support/service/processes.ts';
import type { Point } from '../rig/points.ts';
import type { Random } from '../rig/random.ts';
import type { Relay } from '../support/faults/relay.ts';
import type { Lane } from './lane.ts';

/** What a kind has to work with. */
export interface Scene {
  lane: Lane;
  random: Random;
  /** Aborts when clients don't wait for anything any more. */
  idle: AbortSignal;
  /** Where or when exactly it struck. */
  struck(how: string): void;
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
const both: Crash = (lane) => lane.machines.forEach((process) => process.killAlone());
const postgres: Crash = (lane, random) => lane.crashPostgres(random.between(0, 3_000));
const workerAndPostgres: Crash = (lane, random) => {
  lane.worker.killAlone();
  return postgres(lane, random);
};

/** At any time in the life of the round's uploads. */
const anyTime =
  (crash: Crash, latestMs: number): Kind['strike'] =>
  async ({ lane, random, idle, struck }) => {
    const afterMs = random.between(50, latestMs);
    await sleep(afterMs);
    const isHit = !idle.aborted;
    struck(`after ${afterMs} ms`);
    await crash(lane, random);
    return isHit;
  };

/** Waits until the cable is at a point, and crashes in that moment. */
function at(relayOf: (lane: Lane) => Relay, points: Point[], crash: Crash, nth = 3): Kind['strike'] {
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

const whileRecognizing: Kind['strike'] = async ({ lane, idle }) => {
  if (!(await recognizing(lane, idle))) return false;
  lane.worker.killAlone();
  return true;
};

/** Whenever a job is taken, twice in a row: it comes again, and no attempt is spent. */
const atTwoClaims: Kind['strike'] = async (scene) => {
  const strike = at(workerCable, [taken], worker, 1);
  return (await strike(scene)) && strike(scene);
};

const beforeAudioIsGone: Kind['strike'] = async (scene) => {
  const wasThere = await at(workerCable, completed, worker)(scene);
  return wasThere && (await completedWithAudio(scene.lane)) > 0;
};

/**
 * A worker that stands still for so long that another takes its job, and goes on while that one works, or after it has
 * finished.
 */
const freeze: Kind['strike'] = async ({ lane, random, idle, struck }) => {
  const wakesAt = random.oneOf(['processing', 'completed']);
  if (!(await recognizing(lane, idle))) return false;
  lane.worker.freezeAlone();
  const held = (await sessionsOf(lane)).filter(({ status }) => status === 'processing').map(({ id }) => id);
  struck(`until the other is ${wakesAt}`);
  const other = machineOf('start-worker', lane.environment, { startsAgain: true });
  await other.begin();
  try {
    const isTaken = async () =>
      (await sessionsOf(lane)).some(
        ({ id, attempt, status }) => held.includes(id) && attempt > 1 && status === wakesAt,
      );
    while (!(await isTaken())) {
      if (idle.aborted) return false;
      await sleep(100);
    }
    return true;
  } finally {
    lane.worker.thaw();
    // Both at work for as long as there is something to do.
    if (!idle.aborted) await once(idle, 'abort');
    await other.stop();
  }
};

/** Until something is decoded there, and not stored yet. @returns whether it was, before clients had what they wait for */
async function recognizing({ db, worker: { pid }, dataDir }: Lane, idle: AbortSignal): Promise<boolean> {
  while (!idle.aborted) {
    const isDecoding = descendantsOf(pid).some(({ name }) => name === 'ffmpeg');
    const query = db.selectFrom('sessions').select(['account_id', 'id', 'attempt']).where('status', '=', 'processing');
    const files = (await query.execute()).map((row) =>
      join(dataDir, 'work', `${row.account_id}.${row.id}.${row.attempt}`),
    );
    const sizes = await Promise.all(files.map((file) => stat(file).then(({ size }) => size, () => 0))); // prettier-ignore
    if (!isDecoding && sizes.some((size) => size > 0)) return true;
    await sleep(10);
  }
  return false;
}

const sessionsOf = ({ db }: Lane) => db.selectFrom('sessions').select(['id', 'status', 'attempt']).execute();

/** How many completed sessions still have their audio on disk. */
async function completedWithAudio(lane: Lane): Promise<number> {
  const hasFile = (id: string) => existsSync(join(lane.dataDir, 'audio', lane.account.id, id));
  return (await sessionsOf(lane)).filter(({ id, status }) => status === 'completed' && hasFile(id)).length;
}

export const kinds: Kind[] = [
  { name: 'before the claim, twice: worker', seconds: 45, strike: atTwoClaims },
  { name: 'frozen until another has its job: worker', seconds: 40, strike: freeze },
  { name: 'decoded, not recognized: worker', seconds: 35, strike: whileRecognizing },
  { name: 'recognized, not stored: worker', seconds: 35, strike: at(workerCable, recognized, worker) },
  { name: 'stored, not acknowledged: worker', seconds: 35, strike: at(workerCable, [stored], worker) },
  { name: 'completed, audio not deleted: worker', seconds: 35, strike: beforeAudioIsGone },
  { name: 'any time: worker', seconds: 35, strike: anyTime(worker, 5_000) },
  { name: 'any time: API and worker', seconds: 35, strike: anyTime(both, 5_000) },
  { name: 'any time: worker and PostgreSQL', seconds: 35, strike: anyTime(workerAndPostgres, 5_000) },
  { name: 'stored, not acknowledged: PostgreSQL', seconds: 15, strike: at(workerCable, [stored], postgres) },
  { name: 'any time: PostgreSQL', seconds: 15, strike: anyTime(postgres, 5_000) },
  { name: 'any time: API', seconds: 10, strike: anyTime(api, 2_500) },
  { name: 'received, not committed: API', seconds: 10, strike: at(apiCable, received, api) },
  { name: 'committed, not answered: API', seconds: 10, strike: at(apiCable, [committed], api) },
  { name: 'committed, not answered: PostgreSQL', seconds: 10, strike: at(apiCable, [committed], postgres) },
];
