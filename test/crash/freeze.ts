/** A worker that stands still for so long that another takes its job, and then goes on as if nothing had happened. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRecognizing } from '../rig/held.ts';
import { nodeOfService } from '../rig/node-of-service.ts';
import { here } from '../rig/place.ts';
import { sessionStates } from './rows.ts';
import type { Scene } from './kinds.ts';

const takenOverWithinMs = 600_000;

/** Goes on while the other one works, or after it has finished. */
export async function freeze({ lane, random, idle, struck }: Scene): Promise<boolean> {
  const wakesAt = random.oneOf(['processing', 'completed']);
  while (!(await isRecognizing(lane.db, lane.worker, lane.dataDir))) {
    if (idle.aborted) return false;
    await sleep(10);
  }
  lane.worker.freezeAlone();
  const held = (await sessionStates(lane)).filter(({ status }) => status === 'processing').map(({ id }) => id);
  struck(`until the other is ${wakesAt}`);
  const env = { ...lane.environment, OPS_PORT: '0' };
  const other = nodeOfService(here('other worker'), 'start-worker', { folder: lane.dataDir, env, startsAgain: true });
  await other.begin();
  try {
    const deadline = performance.now() + takenOverWithinMs;
    while (performance.now() < deadline) {
      const sessions = await sessionStates(lane);
      if (sessions.some(({ id, attempt, status }) => held.includes(id) && attempt > 1 && status === wakesAt))
        return true;
      await sleep(100);
    }
    return false;
  } finally {
    lane.worker.thaw();
    // Both at work for as long as there is something to do.
    if (!idle.aborted) await once(idle, 'abort');
    await other.stop();
  }
}
