/** The table of a run. */
import { table } from '../../scripts/terminal/table.ts';
import { targets, ways } from './fault.ts';
import type { Result } from './scenario.ts';

export interface Row {
  kind: string;
  faults: number;
  requests: number;
  retries: number;
  givenAway: number;
  medianSeconds: number;
  maxSeconds: number;
}

/** A row for each kind of fault: what clients met from its beginning until the fleet was whole again. */
export function rowsOf(results: readonly Result[]): Row[] {
  const kinds = targets.flatMap((target) => ways.map((way) => `${target} ${way}`));
  const all = results.flatMap(({ struck }) => struck);
  return kinds.map((kind) => {
    const own = all.filter((one) => one.kind === kind);
    const seconds = own.map((one) => one.seconds).sort((a, b) => a - b);
    return {
      ...{ kind, faults: own.length, requests: sum(own, 'requests'), retries: sum(own, 'retries') },
      givenAway: own.reduce((total, one) => total + one.givenAway.length, 0),
      medianSeconds: rounded(seconds[Math.floor(seconds.length / 2)]),
      maxSeconds: rounded(seconds.at(-1)),
    };
  });
}

const rounded = (seconds = 0) => Math.round(seconds * 10) / 10;

export function tableOf(rows: readonly Row[]): string {
  const heads = ['faults', 'requests', 'sent again', 'given away', 'median s', 'max s'];
  const columns = [{ head: 'fault' }, ...heads.map((head) => ({ head, align: 'right' as const }))];
  const cells = rows.map((row) => [
    row.kind,
    ...[row.faults, row.requests, row.retries, row.givenAway, row.medianSeconds, row.maxSeconds].map(String),
  ]);
  return table(columns, cells, 'No fault.');
}

const totals = [
  'requests',
  'retries',
  'hiddenRetries',
  'uploads',
  'accepted',
  'completed',
  'failed',
  'refused',
] as const;
const harms = ['lost', 'doubled', 'leaked'] as const;

export interface Totals extends Record<
  (typeof totals)[number] | (typeof harms)[number] | 'faults' | 'revokedKeys',
  number
> {
  restartRequests: number;
}

export function totalsOf(results: readonly Result[]): Totals {
  const entries = [...totals, ...harms, 'revokedKeys' as const].map((name) => [name, sum(results, name)]);
  return {
    ...(Object.fromEntries(entries) as Omit<Totals, 'faults' | 'restartRequests'>),
    faults: results.reduce((total, { struck }) => total + struck.length, 0),
    restartRequests: results.reduce((total, { rolling }) => total + rolling.requests, 0),
  };
}

export const lineOf = (all: Totals): string =>
  `${all.requests} requests, ${all.faults} faults, ${all.retries} sent again (${all.hiddenRetries} more by the balancer alone);
${all.uploads} uploads: ${all.completed} completed, ${all.failed} failed as they must, ${all.refused} refused as they must;
lost ${all.lost}, doubled ${all.doubled}, leaked ${all.leaked};
${all.restartRequests} requests in rolling restarts, ${all.revokedKeys} keys revoked`;

const sum = <Name extends string>(all: readonly Record<Name, number>[], name: Name) =>
  all.reduce((total, one) => total + one[name], 0);
