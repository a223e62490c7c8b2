/** What must be true in the end, when everything runs and every client knows how its uploads ended. */
import { basename, join } from 'node:path';
import { sweepAfterGrace, verify } from '../crash/aftermath.ts';
import { compare } from '../crash/inspection.ts';
import { uploadRows } from '../crash/rows.ts';
import { until } from '../support/until.ts';
import { filesBelow } from './object-store.ts';
import type { Customer } from './accounts.ts';
import type { Fleet } from './fleet.ts';
import type { Load } from './load.ts';

export interface Findings {
  uploads: number;
  accepted: number;
  completed: number;
  failed: number;
  refused: number;
  /** Accepted, and not ended as what was uploaded has to end. */
  lost: number;
  /** There twice, or charged twice. */
  doubled: number;
  /** Audio that nobody needs, after the sweeps. That of failed sessions is kept for seven days. */
  leaked: number;
  breaches: string[];
}

const removedWithinMs = 30_000;

export async function inspect(fleet: Fleet, customers: readonly Customer[], load: Load): Promise<Findings> {
  const found: Findings = {
    ...{ uploads: 0, accepted: 0, completed: 0, failed: 0, refused: 0, lost: 0, doubled: 0, leaked: 0 },
    breaches: [],
  };
  for (const customer of customers) {
    const outcomes = load.outcomesOf(customer);
    const rows = await uploadRows(fleet.db, customer.id, '');
    const one = compare(rows, outcomes);
    found.uploads += outcomes.length;
    for (const name of ['accepted', 'completed', 'failed', 'refused', 'lost'] as const) found[name] += one[name];
    found.doubled += one.chargedTwice + one.existingTwice;
    found.breaches.push(...one.breaches);
    if (rows.length !== one.accepted)
      found.breaches.push(`${customer.name} was told of ${one.accepted} sessions and has ${rows.length}`);
    found.breaches.push(...(await listedElsewhere(fleet, customer, new Set(rows.map(({ id }) => id)))));
  }
  const left = await leftAudio(fleet);
  found.leaked = left.length;
  found.breaches.push(...left.map((file) => `${file} is left`));
  found.breaches.push(...(await verify({ environment: () => fleet.environment() })));
  return found;
}

/** Either node lists all sessions of an account, and no other's. */
async function listedElsewhere({ apis }: Fleet, { name, key }: Customer, own: Set<string>): Promise<string[]> {
  const wrong: string[] = [];
  for (const api of apis) {
    const seen = await allSessions(`http://${api.place.address}:8080/v1/sessions`, key);
    const foreign = seen.filter((id) => !own.has(id)).length;
    if (foreign > 0 || seen.length !== own.size)
      wrong.push(`${api.name} lists ${seen.length} sessions of ${name}, ${foreign} of them another's, of ${own.size}`);
  }
  return wrong;
}

async function allSessions(url: string, key: string): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = `${url}?limit=100${cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`}`;
    const response = await fetch(page, { headers: { Authorization: `Bearer ${key}` } });
    if (!response.ok) throw new Error(`${page} got ${response.status}`);
    const { items, nextCursor } = (await response.json()) as { items: { id: string }[]; nextCursor?: string };
    ids.push(...items.map(({ id }) => id));
    cursor = nextCursor;
  } while (cursor !== undefined);
  return ids;
}

/** In the store, and on the disks of the nodes, as it is when what a crash left is old enough for the sweeps. */
async function leftAudio({ db, store, apis, workers, environment }: Fleet): Promise<string[]> {
  const failed = await db.selectFrom('sessions').select('id').where('status', '=', 'failed').execute();
  const kept = new Set(failed.map(({ id }) => id));
  const nodes = [...apis, ...workers].map(({ folder }) => folder);
  const left = async () => {
    const onDisks = nodes.flatMap((folder) => [join(folder, 'work'), join(folder, 'audio')]).map(filesBelow);
    const needless = (await store.objects()).filter((path) => !kept.has(basename(path)));
    return [needless, ...(await Promise.all(onDisks))].flat();
  };
  await until(left, (files) => files.length === 0, removedWithinMs).catch(() => {});
  for (const dataDir of nodes)
    await sweepAfterGrace({ dataDir, environment: () => ({ ...environment(), DATA_DIR: dataDir }) });
  return left();
}
