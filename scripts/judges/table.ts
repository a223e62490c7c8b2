import Table from 'cli-table3';
import type { Judge } from './judge.ts';

export interface Row {
  name: Judge['name'];
  tool: string;
  version: string;
  did: string;
  result: 'passed' | 'failed' | 'not run';
  /** Why it did not pass. */
  why?: string;
  seconds: number;
}

export function tableOf(rows: readonly Row[]): string {
  const wordWrap = { wordWrap: true, wrapOnWordBoundary: true };
  const table = new Table({
    ...{ head: ['tool', 'version', 'what it did', 'result', 's'], colWidths: [24, 12, 58, 44, 6] },
    ...{ style: { head: [], border: [] }, ...wordWrap },
  });
  for (const { tool, version, did, result, why, seconds } of rows) {
    table.push([tool, version, did, why === undefined ? result : `${result}: ${why}`, String(seconds)]);
  }
  return table.toString();
}
