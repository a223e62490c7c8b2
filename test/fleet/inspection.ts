/** What must be true in the end, when everything runs and every client knows how its uploads ended. */
import { basename, join } from 'node:path';
import { sweepAfterGrace, verify } from '../rig/aftermath.ts';
import { ask } from '../rig/client.ts';
import { compare, together } from '../rig/inspection.ts';
import { filesBelow } from '../rig/object-store.ts';
import { uploadRows } from '../rig/rows.ts';
import { markName } from '../../src/files/audio-store.ts';
import { until } from '../support/until.ts';
import { urlOf } from './fleet.ts';
import type { Server } from '../rig/client.ts';
import type { Findings } from '../rig/inspection.ts';
import type { Customer } from './customers.ts';
import type { Fleet } from './fleet.ts';
import type { Load } from './load.ts';

export interface FleetFindings extends Findings {
  /** There twice, or charged twice. */
  doubled: number;
  /** Audio that nobody needs, after the sweeps. That of failed sessions is kept for seven days. */
  leaked: number;
}

const removedWithinMs = 30_000;

export async function inspect(fleet: Fleet, customers: readonly Customer[], load: Load): Promise<FleetFindings> {
  const found = together(await Promise.all(customers.map((customer) => inspectOne(fleet, customer, load))));
  const left = await leftAudio(fleet);
  const breaches = [...found.breaches, ...left.map((file) => `${file} is left`)];
  breaches.push(...(await verify(fleet.environment())));
  return { ...found, breaches, doubled: found.chargedTwice + found.existingTwice, leaked: left.length };
}

async function inspectOne(fleet: Fleet, customer: Customer, load: Load): Promise<Findings> {
  const rows = await uploadRows(fleet.db, customer.id);
  const found = compare(rows, load.outcomesOf(customer));
  if (rows.length !== found.accepted)
    found.breaches.push(`${customer.name} was told of ${found.accepted} sessions and has ${rows.length}`);
  found.breaches.push(...(await listedElsewhere(fleet, customer, new Set(rows.map(({ id }) => id)))));
  return found;
}

/** Either node lists all sessions of an account, and no other's. */
async function listedElsewhere({ apis }: Fleet, { name, key }: Customer, own: Set<string>): Promise<string[]> {
  const wrong: string[] = [];
  for (const api of apis) {
    const seen = await allSessions({ url: urlOf(api), key });
    const foreign = seen.filter((id) => !own.has(id)).length;
    if (foreign > 0 || seen.length !== own.size)
      wrong.push(`${api.name} lists ${seen.length} sessions of ${name}, ${foreign} of them another's, of ${own.size}`);
  }
  return wrong;
}

async function allSessions(server: Server): Promise<string[]> {
  const ids: string[] = [];
  let path = '/sessions?limit=100';
  for (;;) {
    const { status, body } = await ask<{ items: { id: string }[]; nextCursor?: string }>(server, path);
    if (status !== 200) throw new Error(`${path} got ${status}`);
    ids.push(...body.items.map(({ id }) => id));
    if (body.nextCursor === undefined) return ids;
    path = `/sessions?limit=100&cursor=${encodeURIComponent(body.nextCursor)}`;
  }
}

/** In the store, and on the disks of the nodes, as it is when what a crash left is old enough for the sweeps. */
async function leftAudio({ db, store, apis, workers, environment }: Fleet): Promise<string[]> {
  const failed = await db.selectFrom('sessions').select('id').where('status', '=', 'failed').execute();
  const kept = new Set(failed.map(({ id }) => id));
  const nodes = [...apis, ...workers].map(({ folder }) => folder);
  const left = async () => {
    const onDisks = nodes.flatMap((folder) => [join(folder, 'work'), join(folder, 'audio')]).map(filesBelow);
    const objects = (await store.objects()).map((path) => [path, basename(path)] as const);
    const needless = objects.filter(([, name]) => name !== markName && !kept.has(name)).map(([path]) => path);
    return [needless, ...(await Promise.all(onDisks))].flat();
  };
  await until(left, (files) => files.length === 0, removedWithinMs).catch(() => {});
  for (const dataDir of nodes) await sweepAfterGrace(environment(dataDir));
  return left();
}
