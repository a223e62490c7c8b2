/** A fleet whose primary is replaced in three ways while clients work, and what is found in the end. */
import { join } from 'node:path';
import { underLoad } from '../fleet/under-load.ts';
import { until } from '../support/until.ts';
import { bringBack, replacePrimary, ways } from './cases.ts';
import { startDatabaseServers } from './database-servers.ts';
import { startWriter } from './writer.ts';
import type { Met, World } from '../fleet/under-load.ts';
import type { Run } from '../rig/world.ts';
import type { Way } from './cases.ts';
import type { DatabaseServers } from './database-servers.ts';

export interface Scenario extends World {
  /** How often each case. */
  each: number;
}

export interface Replaced {
  way: Way;
  /** The longest time without an acknowledged row. */
  gapSeconds: number;
  /** The longest time without an accepted upload. */
  uploadGapSeconds: number;
  retries: number;
}

export interface Result extends Met {
  replaced: Replaced[];
  /** Rows of a writer beside the service. */
  acknowledged: number;
  lostRows: number;
}

const longestGapSeconds = 30;

export const run: Run<Scenario, Result> = async (scenario, tell, interrupted) => {
  let servers!: DatabaseServers;
  const startDatabase = async () => (servers = await startDatabaseServers(join(scenario.folder, 'databases')));
  const seen = { replaced: [] as Replaced[], acknowledged: 0, lostRows: 0 };
  const met = await underLoad(scenario, startDatabase, { tell, interrupted }, async ({ fleet, load }) => {
    const writer = await startWriter(servers.urlOf('written'));
    const breaches: string[] = [];
    for (const way of Array.from({ length: scenario.each }, () => ways).flat()) {
      const counted = load.tally.begin();
      const began = performance.now();
      const old = await replacePrimary(servers.nodes, way);
      await untilEachGrew(writer.acknowledgedAt, load.tally.uploadsAt);
      const [gapSeconds, uploadGapSeconds] = [writer.acknowledgedAt, load.tally.uploadsAt].map((times) => longestGap(times, began)) as [number, number]; // prettier-ignore
      seen.replaced.push({ way, gapSeconds, uploadGapSeconds, retries: counted().again.length });
      tell(`${way}: ${gapSeconds.toFixed(1)} s without a row, ${uploadGapSeconds.toFixed(1)} s without an upload`);
      if (gapSeconds >= longestGapSeconds) breaches.push(`${way}: nothing was written for ${gapSeconds} s`);
      await bringBack(old, way);
      await servers.whole();
      await fleet.ready();
    }
    await load.end();
    const lost = await writer.end();
    if (lost.length > 0) breaches.push(`${lost.length} acknowledged rows are not there`);
    [seen.acknowledged, seen.lostRows] = [writer.acknowledgedAt.length, lost.length];
    return breaches;
  });
  return { ...met, ...seen };
};

/**
 * The longest time in which nothing came, from `began` until now, in s.
 * @param times when it came (`performance.now()`)
 */
function longestGap(times: readonly number[], began: number): number {
  const since = [began, ...times.filter((at) => at > began), performance.now()];
  return Math.max(...since.slice(1).map((at, index) => at - since[index]!)) / 1000;
}

/** Until something more came in each of these lists. */
async function untilEachGrew(...lists: (readonly unknown[])[]): Promise<void> {
  const lengths = lists.map(({ length }) => length);
  await until(() => lists.every(({ length }, index) => length > lengths[index]!));
}
