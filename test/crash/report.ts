/** The figures of a run: for eyes and for programs. */
import { figuresTable, medianAndMost } from '../rig/figures.ts';
import { endsCounted, harmsCounted, sumOf } from '../rig/inspection.ts';
import type { RoundResult } from './round.ts';

const titles = {
  ...{ rounds: 'rounds', hit: 'hit', uploads: 'uploads', accepted: 'accepted', completed: 'completed' },
  ...{ failed: 'failed', refused: 'refused', lost: 'lost', truncated: 'truncated', chargedTwice: '2× charged' },
  ...{ existingTwice: '2× there', breaches: 'breaches', medianSeconds: 'median s', maxSeconds: 'max s' },
};

/** Seconds are those of a recovery. */
export type KindFigures = Record<keyof typeof titles, number> & { kind: string };

export function figuresOf(kind: string, results: readonly RoundResult[]): KindFigures {
  return {
    ...{ kind, rounds: results.length, hit: results.filter(({ isHit }) => isHit).length },
    ...sumOf(results, [...endsCounted, ...harmsCounted]),
    breaches: results.flatMap(({ breaches }) => breaches).length,
    ...medianAndMost(results.map(({ recoverySeconds }) => recoverySeconds)),
  };
}

/** One row for each kind of crash, and one for all. */
export const tableOf = (figures: readonly KindFigures[]): string => figuresTable('crash', titles, figures);

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
