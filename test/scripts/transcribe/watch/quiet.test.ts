import { QuietFiles } from '../../../../scripts/transcribe/watch/quiet.ts';

const state = (bytes: number, changedAt = '7') => ({ bytes, changedAt });

test('a file is quiet once it has stayed the same for long enough, and not while it grows, however long that takes', () => {
  const quiet = new QuietFiles(10_000);
  for (let now = 0; now < 3_600_000; now += 9_000) expect(quiet.isQuiet('a', state(now), now)).toBe(false);
  const stoppedAt = 3_600_000;
  expect(quiet.isQuiet('a', state(1), stoppedAt)).toBe(false);
  expect(quiet.isQuiet('a', state(1), stoppedAt + 9_999)).toBe(false);
  expect(quiet.isQuiet('a', state(1), stoppedAt + 10_000)).toBe(true);
  expect(quiet.isQuiet('a', state(1, '8'), stoppedAt + 10_001)).toBe(false);
});

test('a file that was gone has to be quiet anew', () => {
  const quiet = new QuietFiles(10);
  quiet.isQuiet('a', state(1), 0);
  quiet.isQuiet('b', state(1), 0);
  quiet.keepOnly(new Set(['b']));
  expect([quiet.isQuiet('a', state(1), 10), quiet.isQuiet('b', state(1), 10)]).toEqual([false, true]);
});
