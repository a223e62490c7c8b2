/** One fault, from its beginning until the fleet is whole again. */
import { setTimeout as sleep } from 'node:timers/promises';
import { heldBy, isRecognizing } from '../rig/held.ts';
import { until } from '../support/until.ts';
import { kindOf } from './fault.ts';
import { givenAway, haveEnded } from './given-away.ts';
import type { Held } from '../rig/held.ts';
import type { Machine } from '../rig/machine.ts';
import type { Tally } from '../rig/tally.ts';
import type { Fault } from './fault.ts';
import type { Fleet } from './fleet.ts';
import type { GivenAway } from './given-away.ts';

export interface Struck {
  kind: string;
  /** Which machine, and for how long. */
  how: string;
  /** From the beginning of the fault until everything was ready and clients had been answered again. */
  seconds: number;
  requests: number;
  /** Requests that clients had to send again. */
  retries: number;
  /** Sessions that another worker took over, as they were when the first one came back. */
  givenAway: GivenAway[];
}

/** A worker is struck while it hears something, if it does within this time. */
const busyWithinMs = 10_000;
/** For a worker that had nothing to do. */
const idleMs = 5_000;
/** Heartbeats of a job are missed after 20 s. */
const givenAwayWithinMs = 90_000;

export async function strike(fleet: Fleet, fault: Fault, tally: Tally): Promise<Struck> {
  const machine = machineOf(fleet, fault);
  const isWorker = fault.target === 'worker';
  const isBusy = () => isRecognizing(fleet.db, machine, machine.folder);
  if (isWorker) await until(isBusy, Boolean, busyWithinMs).catch(() => {});
  const held = isWorker ? await heldBy(fleet.db, machine.folder) : [];
  const counted = tally.begin();
  const began = performance.now();
  await begin(machine, fault);
  const gone = await away(fleet, fault, held);
  await end(machine, fault);
  const mended = tally.begin();
  await fleet.ready();
  // Something was answered since.
  await until(() => mended().requests > mended().again.length);
  const { requests, again } = counted();
  const seconds = (performance.now() - began) / 1000;
  const how = `${machine.name}, ${typeof fault.away === 'number' ? `${fault.away} ms` : fault.away}`;
  return { kind: kindOf(fault), how, seconds, requests, retries: again.length, givenAway: gone };
}

function machineOf(fleet: Fleet, { target, machine }: Fault): Machine {
  const machines = {
    'API node': fleet.apis,
    worker: fleet.workers,
    store: [fleet.store.machine],
    database: fleet.databases,
  }[target];
  return machines[machine % machines.length]!;
}

async function begin(machine: Machine, { way }: Fault): Promise<void> {
  if (way === 'cut off') await machine.place.cut();
  else if (way === 'frozen') machine.freeze();
  else await machine.kill();
}

async function end(machine: Machine, { way }: Fault): Promise<void> {
  if (way === 'cut off') await machine.place.mend();
  else if (way === 'frozen') machine.thaw();
  else await machine.begin();
}

async function away({ db }: Fleet, fault: Fault, held: readonly Held[]): Promise<GivenAway[]> {
  if (typeof fault.away === 'number' || held.length === 0) {
    await sleep(typeof fault.away === 'number' ? fault.away : idleMs);
    return [];
  }
  const deadline = performance.now() + givenAwayWithinMs;
  let gone = await givenAway(db, held);
  while (gone.length === 0 && performance.now() < deadline) {
    if (await haveEnded(db, held)) return [];
    await sleep(100);
    gone = await givenAway(db, held);
  }
  return gone;
}
