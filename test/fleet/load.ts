/** What customers do all the while, through the balancer: they upload, wait for what became of it, and look at their lists. */
import { setTimeout as sleep } from 'node:timers/promises';
import { randomOf } from '../crash/random.ts';
import { uploadAndFollow } from '../crash/uploads.ts';
import { Tally } from './tally.ts';
import type { Clips } from '../crash/clips.ts';
import type { Outcome } from '../crash/uploads.ts';
import type { Customer } from './accounts.ts';

export interface Load {
  tally: Tally;
  outcomesOf(customer: Customer): Outcome[];
  /** What a client saw that it must never see. */
  breaches: string[];
  /** No upload begins any more. Resolves when every client knows how its uploads ended, or gave up. */
  end(): Promise<void>;
}

const lookEveryMs = 300;
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

  const upload = async (customer: Customer, client: number) => {
    const random = randomOf(`${seed}:${customer.name}:${client}`);
    const server = { url, key: customer.key, heard: tally.heard };
    for (let number = 1; !ending.signal.aborted; number += 1) {
      const outcome: Outcome = {
        upload: {
          name: `${customer.name}-${client}-${number}`,
          clip: random.oneOf(random.between(1, 6) === 1 ? clips.others : clips.speech),
          startsAfterMs: 0,
          isImpatient: random.between(1, 10) === 1,
          follows: random.oneOf(['by polling', 'by waiting', 'by waiting'] as const),
        },
        ...{ answers: [], faults: [] },
      };
      outcomes.get(customer)!.push(outcome);
      await uploadAndFollow(server, outcome, givenUp.signal);
      await pause(random.between(pauseMs.shortest, pauseMs.longest), ending.signal);
    }
  };

  /** An account that sees what belongs to another one. */
  const look = async (customer: Customer) => {
    while (!ending.signal.aborted) {
      const titles = await titlesSeen(url, customer.key, tally);
      const foreign = titles.filter((title) => !title.startsWith(`${customer.name}-`));
      if (foreign.length > 0) breaches.push(`${customer.name} sees ${foreign.join(', ')}`);
      await pause(lookEveryMs, ending.signal);
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
async function titlesSeen(url: string, key: string, { heard }: Tally): Promise<string[]> {
  const path = '/sessions?limit=20';
  try {
    const signal = AbortSignal.timeout(20_000);
    const response = await fetch(`${url}/v1${path}`, { headers: { Authorization: `Bearer ${key}` }, signal });
    heard(path, response.ok ? undefined : `status ${response.status}`);
    if (!response.ok) return [];
    const { items } = (await response.json()) as { items: { title: string }[] };
    return items.map(({ title }) => title);
  } catch (error) {
    heard(path, String(error));
    return [];
  }
}

const pause = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }).catch(() => {});
