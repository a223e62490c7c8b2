/** The figures of a run. */
import { figuresTable, medianAndMost } from '../rig/figures.ts';
import { endsCounted, sumOf } from '../rig/inspection.ts';
import { targets, ways } from './fault.ts';
import type { Result } from './scenario.ts';

const titles = {
  ...{ faults: 'faults', requests: 'requests', retries: 'sent again', givenAway: 'given away' },
  ...{ medianSeconds: 'median s', maxSeconds: 'max s' },
};

export type Row = Record<keyof typeof titles, number> & { kind: string };

/** A row for each kind of fault: what clients met from its beginning until the fleet was whole again. */
export function rowsOf(results: readonly Result[]): Row[] {
  const kinds = targets.flatMap((target) => ways.map((way) => `${target} ${way}`));
  return kinds.map((kind) => {
    const own = results.flatMap(({ struck }) => struck).filter((one) => one.kind === kind);
    return {
      ...{ kind, faults: own.length, givenAway: own.flatMap(({ givenAway }) => givenAway).length },
      ...sumOf(own, ['requests', 'retries']),
      ...medianAndMost(own.map(({ seconds }) => seconds)),
    };
  });
}

export const tableOf = (rows: readonly Row[]): string => figuresTable('fault', titles, rows);

const counted = ['requests', 'retries', 'hiddenRetries', 'revokedKeys', 'restartRequests'] as const;
const harms = ['lost', 'doubled', 'leaked'] as const;

export const totalsOf = (results: readonly Result[]) => sumOf(results, [...counted, ...endsCounted, ...harms]);

/** What clients of a fleet met, and what became of their uploads. */
export const linesOf = (
  met: Record<Exclude<keyof ReturnType<typeof totalsOf>, 'revokedKeys' | 'restartRequests'>, number>,
): string =>
  `${met.requests} requests, ${met.retries} sent again (${met.hiddenRetries} more by the balancer alone);
${met.uploads} uploads: ${met.completed} completed, ${met.failed} failed as they must, ${met.refused} refused as they must;
lost ${met.lost}, doubled ${met.doubled}, leaked ${met.leaked}`;
