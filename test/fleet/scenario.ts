/** A run of one fleet: load, faults one after the other, a rolling restart, and what is found in the end. */
import { join } from 'node:path';
import { addPlace } from '../rig/network.ts';
import { startPostgres } from '../rig/postgres.ts';
import { allowanceOverNodes, waitAtTheOther } from './exactness.ts';
import { changedByReturned } from './given-away.ts';
import { changeKeys } from './keys.ts';
import { restartAll } from './rolling.ts';
import { brokenLimits, watchRunning } from './running.ts';
import { strike } from './strike.ts';
import { underLoad } from './under-load.ts';
import type { Run } from '../rig/world.ts';
import type { Fault } from './fault.ts';
import type { Struck } from './strike.ts';
import type { Met, World } from './under-load.ts';

export interface Scenario extends World {
  faults: Fault[];
}

export interface Result extends Met {
  struck: Struck[];
  revokedKeys: number;
  restartRequests: number;
}

export const run: Run<Scenario, Result> = async (scenario, tell, interrupted) => {
  const startDatabase = async () => {
    const { machine, url } = await startPostgres(
      await addPlace('database', 31),
      join(scenario.folder, 'postgres'),
      5432,
    );
    return { url, machines: [machine] };
  };
  const seen = { struck: [] as Struck[], revokedKeys: 0, restartRequests: 0 };
  const met = await underLoad(scenario, startDatabase, { tell, interrupted }, async (scene) => {
    const { fleet, customers, clips, load } = scene;
    const keys = changeKeys(fleet, customers[0]!);
    const running = watchRunning(fleet.db);
    const breaches = [...(await allowanceOverNodes(fleet)), ...(await waitAtTheOther(fleet, clips))];
    for (const fault of scenario.faults) {
      const one = await strike(fleet, fault, load.tally);
      seen.struck.push(one);
      const gone = one.givenAway.length === 0 ? '' : `, ${one.givenAway.length} given away`;
      tell(`${fault.number} ${one.kind} (${one.how}): well after ${one.seconds.toFixed(1)} s, ${one.requests} requests, ${one.retries} sent again${gone}`); // prettier-ignore
    }
    const rolling = await restartAll(fleet, load.tally);
    tell(`every process restarted within ${rolling.seconds.toFixed(1)} s, ${rolling.requests} requests`);
    await load.end();
    await Promise.all([keys.stop(), running.stop()]);
    [seen.revokedKeys, seen.restartRequests] = [keys.revoked(), rolling.requests];
    const changed = await Promise.all(seen.struck.map(({ givenAway }) => changedByReturned(fleet.db, givenAway)));
    return [...breaches, ...rolling.breaches, ...keys.breaches, ...brokenLimits(running, customers), ...changed.flat()];
  });
  return { ...met, ...seen };
};
