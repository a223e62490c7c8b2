/** Keys that are made and revoked all the while: each is asked of both nodes, past the balancer. */
import { setTimeout as sleep } from 'node:timers/promises';
import { revokeApiKey } from '../../db/api-keys.ts';
import { makeKey } from '../support/service/accounts.ts';
import type { Db } from '../../db/database.ts';
import type { Customer } from './accounts.ts';
import type { Machine } from './machine.ts';

export interface KeyChanges {
  revoked(): number;
  breaches: string[];
  stop(): Promise<void>;
}

const everyMs = 1_000;
/** What the service promises for every process. */
const promisedMs = 1_000;
const askLimitMs = 5_000;

export function changeKeys(db: Db, { id }: Customer, apis: readonly Machine[]): KeyChanges {
  const stopped = new AbortController();
  const breaches: string[] = [];
  let revoked = 0;

  const ask = (api: Machine, key: string): Promise<number | undefined> =>
    fetch(`http://${api.place.address}:8080/v1/sessions?limit=1`, {
      headers: { Authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(askLimitMs),
    }).then(
      async (response) => {
        await response.text();
        return response.status;
      },
      () => undefined,
    );

  /** A node that is away gives no answer or 5xx, which says nothing about the key. */
  const change = async () => {
    const { key, keyId } = await makeKey(db, id);
    for (const [index, status] of (await Promise.all(apis.map((api) => ask(api, key)))).entries())
      if (status === 401) breaches.push(`api${index + 1} refused a key that was just made`);
    await revokeApiKey(db, keyId);
    revoked += 1;
    await sleep(promisedMs);
    for (const [index, status] of (await Promise.all(apis.map((api) => ask(api, key)))).entries())
      if (status === 200) breaches.push(`api${index + 1} took a key that was revoked ${promisedMs} ms before`);
  };
  const keepChanging = async () => {
    while (!stopped.signal.aborted) {
      // The database may be away.
      await change().catch(() => {});
      await sleep(everyMs, undefined, { signal: stopped.signal }).catch(() => {});
    }
  };
  const ended = keepChanging();
  return {
    ...{ revoked: () => revoked, breaches },
    async stop() {
      stopped.abort();
      await ended;
    },
  };
}
