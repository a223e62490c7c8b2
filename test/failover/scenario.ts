/** A fleet whose primary is replaced in three ways while clients work, and what is found in the end. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { makeClips } from '../crash/clips.ts';
import { makeCustomers } from '../fleet/accounts.ts';
import { startFleet } from '../fleet/fleet.ts';
import { inspect } from '../fleet/inspection.ts';
import { startLoad } from '../fleet/load.ts';
import { bringBack, replacePrimary, ways } from './cases.ts';
import { startDatabaseServers } from './database-servers.ts';
import { longestGap, untilEachGrew } from './gaps.ts';
import { startWriter } from './writer.ts';
import type { Findings } from '../fleet/inspection.ts';
import type { Way } from './cases.ts';
import type { DatabaseServers } from './database-servers.ts';

export interface Scenario {
  folder: string;
  versitygw: string;
  /** How often each case. */
  each: number;
  seed: string;
}

export interface Replaced {
  way: Way;
  /** The longest time without an acknowledged row. */
  gapSeconds: number;
  /** The longest time without an accepted upload. */
  uploadGapSeconds: number;
  retries: number;
}

export interface Result extends Findings {
  replaced: Replaced[];
  requests: number;
  retries: number;
  /** Rows of a writer beside the service. */
  acknowledged: number;
  lostRows: number;
}

const longestGapSeconds = 30;

export async function run({ folder, versitygw, each, seed }: Scenario, tell: (line: string) => void): Promise<Result> {
  const clipsFolder = join(folder, 'clips');
  await mkdir(clipsFolder);
  const clips = await makeClips(clipsFolder);
  let servers: DatabaseServers;
  const fleet = await startFleet(folder, versitygw, async () => (servers = await startDatabaseServers(join(folder, 'databases')))); // prettier-ignore
  // The sweeps of this process look into the store, too.
  Object.assign(process.env, fleet.store.env);
  const customers = await makeCustomers(fleet.db);
  await servers!.whole();
  tell(`the fleet runs: ${fleet.machines().map(({ name }) => name).join(', ')}`); // prettier-ignore

  const load = startLoad(fleet.balancer.url, customers, clips, seed);
  const writer = await startWriter(servers!.urlOf('written'));
  const replaced: Replaced[] = [];
  const breaches: string[] = [];
  for (const way of Array.from({ length: each }, () => ways).flat()) {
    const counted = load.tally.begin();
    const began = performance.now();
    const old = await replacePrimary(servers!.nodes, way);
    await untilEachGrew(writer.acknowledgedAt, load.tally.uploadsAt);
    const gaps = [writer.acknowledgedAt, load.tally.uploadsAt].map((times) => longestGap(times, began));
    const one = { way, gapSeconds: gaps[0]!, uploadGapSeconds: gaps[1]!, retries: counted().again.length };
    replaced.push(one);
    tell(
      `${way}: ${one.gapSeconds.toFixed(1)} s without a row, ${one.uploadGapSeconds.toFixed(1)} s without an upload`,
    );
    if (one.gapSeconds >= longestGapSeconds) breaches.push(`${way}: nothing was written for ${one.gapSeconds} s`);
    await bringBack(old, way);
    await servers!.whole();
    await fleet.ready();
  }
  await load.end();
  const lost = await writer.end();
  if (lost.length > 0) breaches.push(`${lost.length} acknowledged rows are not there`);
  const findings = await inspect(fleet, customers, load);
  const { requests, again } = load.tally;
  await fleet.close();
  breaches.push(...load.breaches, ...fleet.machines().flatMap((machine) => machine.faults), ...findings.breaches);
  return {
    ...{ ...findings, replaced, requests, retries: again.length, acknowledged: writer.acknowledgedAt.length },
    ...{ lostRows: lost.length, breaches },
  };
}
