/** What customers do all the while, through the balancer: they upload, wait for what became of it, and look at their lists. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ask } from '../rig/client.ts';
import { randomOf } from '../rig/random.ts';
import { Tally } from '../rig/tally.ts';
import { newOutcome, uploadAndFollow } from '../rig/uploads.ts';
import type { Server } from '../rig/client.ts';
import type { Clips } from '../rig/clips.ts';
import type { Outcome } from '../rig/uploads.ts';
import type { Customer } from './customers.ts';

export interface Load {
  tally: Tally;
  outcomesOf(customer: Customer): Outcome[];
  /** What a client saw that it must never see. */
  breaches: string[];
  /** No upload begins any more. Resolves when every client knows how its uploads ended, or gave up. */
  end(): Promise<void>;
}

const pollIntervalMs = 300;
const pauseMs = { shortest: 300, longest: 2_000 };
/** After the last fault. */
const endLimitMs = 180_000;

/** @param url of the balancer */
export function startLoad(url: string, customers: readonly Customer[], clips: Clips, seed: string): Load {
  const tally = new Tally();
  const ending = new AbortController();
  const givenUp = new AbortController();
  const breaches: string[] = [];
  const outcomes = new Map(customers.map((customer) => [customer, [] as Outcome[]]));

  const serverOf = ({ key }: Customer) => ({ url, key, heard: tally.heard });

  const upload = async (customer: Customer, client: number) => {
    const random = randomOf(`${seed}:${customer.name}:${client}`);
    for (let number = 1; !ending.signal.aborted; number += 1) {
      const outcome = newOutcome({
        name: `${customer.name}-${client}-${number}`,
        clip: random.oneOf(random.between(1, 6) === 1 ? clips.others : clips.speech),
        startsAfterMs: 0,
        isImpatient: random.between(1, 10) === 1,
        follows: random.oneOf(['by polling', 'by waiting', 'by waiting'] as const),
      });
      outcomes.get(customer)!.push(outcome);
      await uploadAndFollow(serverOf(customer), outcome, givenUp.signal);
      await pause(random.between(pauseMs.shortest, pauseMs.longest), ending.signal);
    }
  };

  /** An account that sees what belongs to another one. */
  const look = async (customer: Customer) => {
    while (!ending.signal.aborted) {
      const titles = await titlesSeen(serverOf(customer));
      const foreign = titles.filter((title) => !title.startsWith(`${customer.name}-`));
      if (foreign.length > 0) breaches.push(`${customer.name} sees ${foreign.join(', ')}`);
      await pause(pollIntervalMs, ending.signal);
    }
  };

  const clients = customers.flatMap((customer) => [
    look(customer),
    ...Array.from({ length: customer.uploaders }, (_, client) => upload(customer, client + 1)),
  ]);
  return {
    ...{ tally, breaches, outcomesOf: (customer) => outcomes.get(customer)! },
    async end() {
      ending.abort();
      const timer = setTimeout(() => givenUp.abort(), endLimitMs);
      await Promise.all(clients);
      clearTimeout(timer);
    },
  };
}

/** None when it was not answered. */
async function titlesSeen(server: Required<Server>): Promise<string[]> {
  const path = '/sessions?limit=20';
  try {
    const { status, body } = await ask<{ items: { title: string }[] }>(server, path);
    server.heard(path, status === 200 ? undefined : `status ${status}`);
    return status === 200 ? body.items.map(({ title }) => title) : [];
  } catch (error) {
    server.heard(path, String(error));
    return [];
  }
}

const pause = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }).catch(() => {});
