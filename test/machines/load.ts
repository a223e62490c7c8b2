/** Clients that upload all the while, one recording after the other, and wait for what becomes of each. */
import { setTimeout as sleep } from 'node:timers/promises';
import { randomOf } from '../rig/random.ts';
import { chooseUpload, newOutcome, uploadAndFollow } from '../rig/uploads.ts';
import type { Clips } from '../rig/clips.ts';
import type { Outcome, Server } from '../rig/uploads.ts';

const clients = 6;
const longestPauseMs = 1_000;
const endLimitMs = 180_000;

export function startLoad(server: Server, clips: Clips) {
  const ending = new AbortController();
  const givenUp = new AbortController();
  const outcomes: Outcome[] = [];
  /** Why requests had to be sent again. */
  const again: string[] = [];
  const heard = { ...server, onAgain: (why: string) => void again.push(why) };
  const work = async (client: number) => {
    const random = randomOf(client);
    for (let number = 1; !ending.signal.aborted; number += 1) {
      const outcome = newOutcome(chooseUpload(`client-${client}-${number}`, random, clips));
      outcomes.push(outcome);
      await uploadAndFollow(heard, outcome, givenUp.signal);
      await sleep(random.between(0, longestPauseMs), undefined, { signal: ending.signal }).catch(() => {});
    }
  };
  const working = Promise.all(Array.from({ length: clients }, (_, index) => work(index + 1)));
  return {
    ...{ outcomes, again },
    /** No upload begins any more. Resolves when every client knows how its uploads ended, or gave up. */
    async end() {
      ending.abort();
      const timer = setTimeout(() => givenUp.abort(), endLimitMs);
      await working;
      clearTimeout(timer);
    },
  };
}
