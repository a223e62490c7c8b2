/** Every process is stopped and started again, one after the other, while clients work: each request is answered. */
import type { Tally } from '../rig/tally.ts';
import type { Fleet } from './fleet.ts';

export interface RollingRestart {
  seconds: number;
  requests: number;
  breaches: string[];
}

export async function restartAll(fleet: Fleet, tally: Tally): Promise<RollingRestart> {
  await fleet.ready();
  const counted = tally.begin();
  const began = performance.now();
  const breaches: string[] = [];
  for (const machine of [...fleet.apis, ...fleet.workers]) {
    const code = await machine.stop();
    if (code !== 0) breaches.push(`${machine.name} was asked to stop and ended with ${code}`);
    await machine.start();
    await fleet.ready();
  }
  const { requests, again } = counted();
  const unanswered = again.map(({ path, why }) => `in the rolling restart: ${path}: ${why}`);
  return { seconds: (performance.now() - began) / 1000, requests, breaches: [...breaches, ...unanswered] };
}
