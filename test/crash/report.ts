/** The figures of a run: for eyes and for programs. */
import { table } from '../../scripts/terminal/table.ts';
import type { Findings } from './inspection.ts';
import type { RoundResult } from './round.ts';

export interface KindFigures extends Omit<Findings, 'breaches'> {
  kind: string;
  rounds: number;
  hit: number;
  uploads: number;
  breaches: number;
  medianRecoverySeconds: number;
  maxRecoverySeconds: number;
}

export function figuresOf(kind: string, results: readonly RoundResult[]): KindFigures {
  const sum = (count: (result: RoundResult) => number) => results.reduce((total, result) => total + count(result), 0);
  const recoveries = results.map(({ recoverySeconds }) => recoverySeconds).sort((a, b) => a - b);
  const rounded = (seconds: number | undefined) => Math.round((seconds ?? 0) * 10) / 10;
  return {
    kind,
    rounds: results.length,
    hit: sum(({ isHit }) => Number(isHit)),
    uploads: sum(({ uploads }) => uploads),
    accepted: sum(({ accepted }) => accepted),
    completed: sum(({ completed }) => completed),
    failed: sum(({ failed }) => failed),
    refused: sum(({ refused }) => refused),
    lost: sum(({ lost }) => lost),
    truncated: sum(({ truncated }) => truncated),
    chargedTwice: sum(({ chargedTwice }) => chargedTwice),
    existingTwice: sum(({ existingTwice }) => existingTwice),
    breaches: sum(({ breaches }) => breaches.length),
    medianRecoverySeconds: rounded(recoveries[Math.floor(recoveries.length / 2)]),
    maxRecoverySeconds: rounded(recoveries.at(-1)),
  };
}

const columns = [
  'rounds',
  'hit',
  'uploads',
  'accepted',
  'completed',
  'failed',
  'refused',
  'lost',
  'truncated',
] as const;
const harms = ['chargedTwice', 'existingTwice', 'breaches', 'medianRecoverySeconds', 'maxRecoverySeconds'] as const;
const heads = { chargedTwice: '2× charged', existingTwice: '2× there', breaches: 'breaches' };
const seconds = { medianRecoverySeconds: 'median s', maxRecoverySeconds: 'max s' };

/** One row for each kind of crash, and one for all. What failed is audio that can't be decoded, what was refused is no audio. */
export function tableOf(figures: readonly KindFigures[]): string {
  const names = [...columns, ...harms];
  const titles: Record<string, string> = { ...heads, ...seconds };
  const numbers = names.map((name) => ({ head: titles[name] ?? name, align: 'right' as const }));
  const rows = figures.map((row) => [row.kind, ...names.map((name) => String(row[name]))]);
  return table([{ head: 'crash' }, ...numbers], rows, 'No round was run.');
}

/** @param where it was run */
export function lineOf(where: string, result: RoundResult): string {
  const { number, kind, how, isHit, accepted, recoverySeconds, breaches } = result;
  const what = `${kind}${how === '' ? '' : ` (${how})`}`;
  const outcome = `${accepted} accepted, known how they ended after ${recoverySeconds.toFixed(1)} s`;
  const marks = [isHit ? '' : ', not hit', breaches.length === 0 ? '' : `, ${breaches.length} BREACHES`].join('');
  return [
    `${breaches.length === 0 ? '✓' : '✗'} ${number} ${where}: ${what}: ${outcome}${marks}`,
    ...breaches.map((breach) => `    ${breach}`),
  ].join('\n');
}
