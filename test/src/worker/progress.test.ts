import { ProgressReports } from '../../../src/worker/progress.ts';
import type { Attempt } from '../../../db/sessions/attempts.ts';

const attemptAt = (sessionId: string): Attempt => ({ accountId: 'account', sessionId, attempt: 1 });
const [first, second] = [attemptAt('first'), attemptAt('second')];

/** What each statement writes. */
let written: [string, number][][];
let pauses: PromiseWithResolvers<void>[];
let reports: ProgressReports;
beforeEach(() => {
  written = [];
  pauses = [];
  reports = new ProgressReports(
    async (news) => void written.push([...news].map(([{ sessionId }, percent]) => [sessionId, percent])),
    () => {
      const pause = Promise.withResolvers<void>();
      pauses.push(pause);
      return pause.promise;
    },
  );
});
async function endPause(): Promise<void> {
  pauses.at(-1)!.resolve();
  await new Promise(setImmediate);
}

test('the first news → written at once; what comes during the pause → one statement with the latest of each job', async () => {
  reports.report(first, 1);
  expect(written).toEqual([[['first', 1]]]);
  await new Promise(setImmediate);
  reports.report(first, 2);
  reports.report(second, 10);
  reports.report(first, 3);
  expect(written).toHaveLength(1);
  await endPause();
  const both = [
    ['first', 3],
    ['second', 10],
  ];
  expect(written.slice(1)).toEqual([both]);
});

test('no news after a pause → no statement; the next news is written at once', async () => {
  reports.report(first, 1);
  await new Promise(setImmediate);
  await endPause();
  expect(written).toHaveLength(1);
  reports.report(first, 2);
  expect(written).toEqual([[['first', 1]], [['first', 2]]]);
});

test('an attempt that ends during the pause → nothing more is written of it', async () => {
  reports.report(first, 1);
  await new Promise(setImmediate);
  reports.report(first, 2);
  reports.report(second, 3);
  reports.end(first);
  await endPause();
  expect(written.slice(1)).toEqual([[['second', 3]]]);
});
