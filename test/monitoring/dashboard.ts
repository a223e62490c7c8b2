/** Asks Prometheus for what each panel of the dashboard shows. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { until } from '../support/until.ts';

interface Dashboard {
  panels: { title: string; targets: { refId: string; expr: string }[] }[];
}
interface Matrix {
  status: string;
  error?: string;
  data?: { result: { metric: Record<string, string>; values: [number, string][] }[] };
}

export interface Finding {
  panel: string;
  query: string;
  answer: string;
  hasData: boolean;
}

/** As Grafana does for a scrape interval of 1 s: four times as long. */
const rateInterval = '4s';
const longestMs = 60_000;

/** Some answers need a minute of work; each query is asked until it has one. */
export async function dashboardFindings(prometheusUrl: string): Promise<Finding[]> {
  const file = join(import.meta.dirname, '../../scripts/deploy/grafana-dashboard.json');
  const { panels } = JSON.parse(await readFile(file, 'utf8')) as Dashboard;
  const queries = panels.flatMap(({ title, targets }) => targets.map(({ refId, expr }) => ({ title, refId, expr })));
  return Promise.all(
    queries.map(async ({ title, refId, expr }) => {
      const ask = () => asked(prometheusUrl, expr.replaceAll('$__rate_interval', rateInterval));
      const last = await until(ask, hasNumbers, longestMs).catch(ask);
      return { panel: title, query: refId, answer: described(last), hasData: hasNumbers(last) };
    }),
  );
}

async function asked(prometheusUrl: string, query: string): Promise<Matrix> {
  const now = Date.now() / 1000;
  const parameters = new URLSearchParams({ query, start: `${now - 30}`, end: `${now}`, step: '1' });
  return (await (await fetch(`${prometheusUrl}/api/v1/query_range?${parameters}`)).json()) as Matrix;
}

/** 0 / 0 of what did not happen is NaN, which a panel leaves out. */
const hasNumbers = ({ data }: Matrix) =>
  data !== undefined && data.result.some(({ values }) => values.some(([, value]) => Number.isFinite(Number(value))));

function described({ error, data }: Matrix): string {
  if (data === undefined) return `refused: ${error}`;
  if (data.result.length === 0) return 'nothing';
  const labels = data.result.map(({ metric }) => Object.values(metric).join(' ')).filter((text) => text !== '');
  return `${data.result.length} series${labels.length > 0 ? `: ${labels.join(', ')}` : ''}`;
}
