import { jest } from '../../support/run/jest.ts';
import { steadyClock } from '../../../src/queue/steady-clock.ts';

afterEach(() => jest.restoreAllMocks());

test("the system's clock is set back by an hour → this one goes on", () => {
  const before = steadyClock.now();
  expect(Math.abs(before - Date.now())).toBeLessThan(60_000);
  const real = Date.now();
  jest.spyOn(Date, 'now').mockReturnValue(real - 3_600_000);
  expect(steadyClock.now()).toBeGreaterThanOrEqual(before);
});

test('its timers → as those of Node, and cleared as those', async () => {
  const rings: string[] = [];
  steadyClock.clearTimeout(steadyClock.setTimeout(() => rings.push('never'), 0));
  const every = steadyClock.setInterval(() => rings.push('again'), 1);
  await new Promise<void>((resolve) => void steadyClock.setTimeout(resolve, 20));
  steadyClock.clearInterval(every);
  expect(rings).toContain('again');
  expect(rings).not.toContain('never');
});
