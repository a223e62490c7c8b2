/** A fleet in a world of its own, on which clients work all the while, and what is found in the end. */
import { join } from 'node:path';
import { makeClips } from '../rig/clips.ts';
import { makeCustomers } from './customers.ts';
import { startFleet } from './fleet.ts';
import { inspect } from './inspection.ts';
import { startLoad } from './load.ts';
import type { Clips } from '../rig/clips.ts';
import type { Customer } from './customers.ts';
import type { DatabaseMachines, Fleet } from './fleet.ts';
import type { FleetFindings } from './inspection.ts';
import type { Load } from './load.ts';

export interface World {
  folder: string;
  /** The program. */
  versitygw: string;
  seed: string;
}

export interface Scene {
  fleet: Fleet;
  customers: Customer[];
  clips: Clips;
  load: Load;
}

export interface Met extends FleetFindings {
  requests: number;
  /** Requests that clients had to send again. */
  retries: number;
  /** Of the balancer, which clients never heard of. */
  hiddenRetries: number;
}

/**
 * @param startDatabase makes an empty one
 * @param act what happens meanwhile; it ends the load, and answers with what was wrong
 */
export async function underLoad(
  { folder, versitygw, seed }: World,
  startDatabase: () => Promise<DatabaseMachines>,
  { tell, interrupted }: { tell: (line: string) => void; interrupted: AbortSignal },
  act: (scene: Scene) => Promise<string[]>,
): Promise<Met> {
  // The world ends with this process.
  interrupted.addEventListener('abort', () => process.exit(1));
  const clips = await makeClips(join(folder, 'clips'));
  const fleet = await startFleet(folder, versitygw, startDatabase);
  // The sweeps of this process look into the store, too.
  Object.assign(process.env, fleet.store.env);
  const customers = await makeCustomers(fleet.db);
  tell(`the fleet runs: ${fleet.machines().map(({ name }) => name).join(', ')}`); // prettier-ignore
  const load = startLoad(fleet.url, customers, clips, seed);
  const breaches = await act({ fleet, customers, clips, load });
  const findings = await inspect(fleet, customers, load);
  const { requests, again } = load.tally;
  const hiddenRetries = await fleet.balancer.retries();
  breaches.push(...load.breaches, ...fleet.machines().flatMap((machine) => machine.faults), ...findings.breaches);
  return { ...findings, requests, retries: again.length, hiddenRetries, breaches };
}
