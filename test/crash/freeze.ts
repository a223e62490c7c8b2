/** A worker that stands still for so long that another takes its job, and then goes on as if nothing had happened. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isRecognizing } from './descendants.ts';
import { sessionStates } from './rows.ts';
import { supervise } from './supervised.ts';
import type { Scene } from './kinds.ts';

const takenOverWithinMs = 600_000;

/** Goes on while the other one works, or after it has finished. */
export async function freeze({ lane, random, idle, struck }: Scene): Promise<boolean> {
  const wakesAt = random.oneOf(['processing', 'completed']);
  while (!isRecognizing(lane.worker.pid())) {
    if (idle.aborted) return false;
    await sleep(10);
  }
  lane.worker.signal('SIGSTOP');
  const held = (await sessionStates(lane)).filter(({ status }) => status === 'processing').map(({ id }) => id);
  struck(`until the other is ${wakesAt}`);
  const other = supervise('src/start-worker.ts', 'worker takes jobs', lane.environment());
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
    lane.worker.signal('SIGCONT');
    // Both at work for as long as there is something to do.
    await new Promise((resolve) => (idle.aborted ? resolve(undefined) : idle.addEventListener('abort', resolve)));
    await other.stop();
  }
}
