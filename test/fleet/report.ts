/** The figures of a run. */
import { figuresTable, medianAndMost } from '../rig/figures.ts';
import { sumOf } from '../rig/inspection.ts';
import { targets, ways } from './fault.ts';
import type { Struck } from './strike.ts';
import type { Met } from './under-load.ts';

const titles = {
  ...{ faults: 'faults', requests: 'requests', retries: 'sent again', givenAway: 'given away' },
  ...{ medianSeconds: 'median s', maxSeconds: 'max s' },
};

/** A row for each kind of fault: what clients met from its beginning until the fleet was whole again. */
export function tableOf(struck: readonly Struck[]): string {
  const kinds = targets.flatMap((target) => ways.map((way) => `${target} ${way}`));
  const rows = kinds.map((kind) => {
    const own = struck.filter((one) => one.kind === kind);
    return {
      ...{ kind, faults: own.length, givenAway: own.flatMap(({ givenAway }) => givenAway).length },
      ...sumOf(own, ['requests', 'retries']),
      ...medianAndMost(own.map(({ seconds }) => seconds)),
    };
  });
  return figuresTable('fault', titles, rows);
}

/** What clients of a fleet met, and what became of their uploads. */
export const linesOf = (met: Met): string =>
  `${met.requests} requests, ${met.retries} sent again (${met.hiddenRetries} more by the balancer alone);
${met.uploads} uploads: ${met.completed} completed, ${met.failed} failed as they must, ${met.refused} refused as they must;
lost ${met.lost}, doubled ${met.doubled}, leaked ${met.leaked}`;
