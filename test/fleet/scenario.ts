/** A run of one fleet: load, faults one after the other, a rolling restart, and what is found in the end. */
import { join } from 'node:path';
import { makeClips } from '../crash/clips.ts';
import { mkdir } from 'node:fs/promises';
import { makeCustomers } from './accounts.ts';
import { allowanceOverNodes, waitAtTheOther } from './exactness.ts';
import { startFleet } from './fleet.ts';
import { changedByReturned } from './given-away.ts';
import { inspect } from './inspection.ts';
import { changeKeys } from './keys.ts';
import { startLoad } from './load.ts';
import { addPlace } from './network.ts';
import { startPostgres } from './postgres.ts';
import { restartAll } from './rolling.ts';
import { brokenLimits, watchRunning } from './running.ts';
import { strike } from './strike.ts';
import type { Fault } from './fault.ts';
import type { Findings } from './inspection.ts';
import type { RollingRestart } from './rolling.ts';
import type { Struck } from './strike.ts';

export interface Scenario {
  folder: string;
  versitygw: string;
  faults: Fault[];
  seed: string;
}

export interface Result extends Findings {
  struck: Struck[];
  requests: number;
  retries: number;
  /** Of the balancer, which clients never heard of. */
  hiddenRetries: number;
  revokedKeys: number;
  rolling: Omit<RollingRestart, 'breaches'>;
}

export async function run(scenario: Scenario, tell: (line: string) => void): Promise<Result> {
  const { folder, versitygw, faults, seed } = scenario;
  const clipsFolder = join(folder, 'clips');
  await mkdir(clipsFolder);
  const clips = await makeClips(clipsFolder);
  const startDatabase = async () => startPostgres(await addPlace('database', 31), join(folder, 'postgres'));
  const fleet = await startFleet(folder, versitygw, startDatabase);
  // The sweeps of this process look into the store, too.
  Object.assign(process.env, fleet.store.env);
  const customers = await makeCustomers(fleet.db);
  tell(`the fleet runs: ${fleet.machines().map(({ name }) => name).join(', ')}`); // prettier-ignore

  const load = startLoad(fleet.balancer.url, customers, clips, seed);
  const keys = changeKeys(fleet.db, customers[0]!, fleet.apis);
  const running = watchRunning(fleet.db);
  const breaches = [...(await allowanceOverNodes(fleet)), ...(await waitAtTheOther(fleet, clips))];
  const struck: Struck[] = [];
  for (const fault of faults) {
    const one = await strike(fleet, fault, load.tally);
    struck.push(one);
    const gone = one.givenAway.length === 0 ? '' : `, ${one.givenAway.length} given away`;
    tell(`${fault.number} ${one.kind} (${one.how}): well after ${one.seconds.toFixed(1)} s, ${one.requests} requests, ${one.retries} sent again${gone}`); // prettier-ignore
  }
  const rolling = await restartAll(fleet, load.tally);
  tell(`every process restarted within ${rolling.seconds.toFixed(1)} s, ${rolling.requests} requests`);
  await load.end();
  await Promise.all([keys.stop(), running.stop()]);

  breaches.push(...rolling.breaches, ...keys.breaches, ...load.breaches, ...brokenLimits(running, customers));
  for (const { givenAway } of struck) breaches.push(...(await changedByReturned(fleet.db, givenAway)));
  const findings = await inspect(fleet, customers, load);
  const { requests, again } = load.tally;
  const hiddenRetries = await fleet.balancer.retries();
  await fleet.close();
  breaches.push(...fleet.machines().flatMap((machine) => machine.faults), ...findings.breaches);
  return {
    ...{ ...findings, struck, requests, retries: again.length, hiddenRetries, revokedKeys: keys.revoked() },
    ...{ rolling: { seconds: rolling.seconds, requests: rolling.requests }, breaches },
  };
}
