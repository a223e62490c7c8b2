/** Keys that are made and revoked all the while: each is asked of both nodes, past the balancer. */
import { setTimeout as sleep } from 'node:timers/promises';
import { revokeApiKey } from '../../db/accounts/api-keys.ts';
import { allTheWhile } from '../rig/all-the-while.ts';
import { statusOf } from '../rig/client.ts';
import { makeKey } from '../support/service/accounts.ts';
import { urlOf } from './fleet.ts';
import type { Customer } from './customers.ts';
import type { Fleet } from './fleet.ts';

export interface KeyChanges {
  revoked(): number;
  breaches: string[];
  stop(): Promise<void>;
}

const everyMs = 1_000;
/** What the service promises for every process. */
const promisedMs = 1_000;
const askLimitMs = 5_000;

export function changeKeys({ db, apis }: Fleet, { id }: Customer): KeyChanges {
  const breaches: string[] = [];
  let revoked = 0;

  /** A node that is away gives no answer or 5xx, which says nothing about the key. */
  const complainAt = async (status: number, key: string, breach: string) => {
    const asked = apis.map(async (api) => {
      const got = await statusOf({ url: urlOf(api), key }, '/sessions?limit=1', {
        signal: AbortSignal.timeout(askLimitMs),
      });
      if (got === status) breaches.push(`${api.name} ${breach}`);
    });
    await Promise.all(asked);
  };
  const change = async () => {
    const { key, keyId } = await makeKey(db, id);
    await complainAt(401, key, 'refused a key that was just made');
    await revokeApiKey(db, keyId);
    revoked += 1;
    await sleep(promisedMs);
    await complainAt(200, key, `took a key that was revoked ${promisedMs} ms before`);
  };
  return { revoked: () => revoked, breaches, stop: allTheWhile(everyMs, change) };
}
