import { meanProgress, allOrAbort } from '../../../src/recognizers/all-or-abort.ts';

const goesOn = new AbortController().signal;
const untilStopped = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

test('one fails → the others are stopped, all have ended, its error', async () => {
  const ended: string[] = [];
  const all = allOrAbort(goesOn, [
    async (stop) => {
      await untilStopped(stop).catch(() => ended.push('stopped'));
      await new Promise(setImmediate);
      ended.push('cleaned up');
      throw new Error('of its own, later');
    },
    () => Promise.reject(new Error('the first')),
  ]);
  await expect(all).rejects.toThrow('the first');
  expect(ended).toEqual(['stopped', 'cleaned up']);
});

test('aborted → rejects with the reason, whatever the works throw then', async () => {
  const controller = new AbortController();
  const all = allOrAbort(controller.signal, [
    (stop) => untilStopped(stop).catch(() => Promise.reject(new Error('killed'))),
  ]);
  const reason = new Error('the service is stopping');
  controller.abort(reason);
  await expect(all).rejects.toBe(reason);
});

test('progress of two works → their mean, rising, never twice the same', () => {
  const percents: number[] = [];
  const progressOf = meanProgress(2, (percent) => percents.push(percent));
  const [one, other] = [progressOf(0), progressOf(1)];
  one(1);
  one(2);
  other(1);
  other(40);
  one(99);
  other(99);
  expect(percents).toEqual([1, 21, 69, 99]);
});
