/** What the bench of fleets finds, as checks and as a table. */
import { quantile } from './statistics.ts';
import type { Check } from './bench.ts';

/** Of one fleet, in one round. */
export interface Figure {
  jobsPerSecond: number;
  fetchesPerJob: number;
  emptyPerJob: number;
  cores: number;
  cpuMsPerJob: number;
  /** All in ms, from the upload's transaction to that of the claim. */
  light: { p50: number; p95: number; p99: number };
  heavy: { p50: number };
}

/** @param isJudged whether the goals are for this fleet */
export function checksOf(work: string, figures: readonly Figure[], isJudged: boolean): Check[] {
  const check = (measure: string, of: (figure: Figure) => number, most: number): Check => ({
    ...{ work, measure, values: figures.map(of) },
    ...(isJudged && { goal: { atMost: most } }),
  });
  return [
    check('fetches per upload', (each) => each.fetchesPerJob, 3),
    check('cores of PostgreSQL', (each) => each.cores, 0.5),
    { ...check("light account's pick-up, p95", (each) => each.light.p95, 1_000), unit: 'ms' },
  ];
}

export function tableOf(figures: Record<string, Figure[]>) {
  const rows = Object.entries(figures).map(([name, each]) => {
    const median = (of: (figure: Figure) => number) => quantile(each.map(of), 0.5);
    const light = (['p50', 'p95', 'p99'] as const).map((which) => median((figure) => figure.light[which]));
    return [
      name,
      ...[median((figure) => figure.jobsPerSecond), median((figure) => figure.fetchesPerJob)],
      ...[median((figure) => figure.emptyPerJob), median((figure) => figure.cpuMsPerJob)],
      ...[median((figure) => figure.cores), ...light, median((figure) => figure.heavy.p50)],
    ];
  });
  const head = ['fleet', 'jobs/s', 'fetches/job', 'empty', 'PostgreSQL ms/job', 'cores', 'light p50 ms', 'p95', 'p99'];
  return { title: 'Medians of all rounds', head: [...head, 'heavy p50 ms'], rows };
}
