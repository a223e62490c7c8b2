/** A kept process whose forks are scripted: the system's faults can't be ordered one by one. */
import { EventEmitter } from 'node:events';
import { jest } from '../../support/run/jest.ts';
import { KeptProcess } from '../../../src/processes/kept-process.ts';
import { SummedMetrics } from '../../../src/processes/summed-metrics.ts';
import { readyMessage } from '../../../src/processes/questions.ts';
import { holdTheClock } from '../../support/faults/held-clock.ts';
import { until } from '../../support/until.ts';
import type { Worker } from 'node:cluster';
import type { Log } from '../../../src/log.ts';

/** A child that does only what the test lets it do. */
class ScriptedChild extends EventEmitter {
  readonly process: { pid: number | undefined };
  readonly heard: unknown[] = [];

  constructor(pid: number | undefined) {
    super();
    this.process = { pid };
  }

  send(message: unknown): void {
    this.heard.push(message);
  }
}

const noMemory = Object.assign(new Error('spawn ENOMEM'), { code: 'ENOMEM' });
const noDescriptors = Object.assign(new Error('spawn EMFILE'), { code: 'EMFILE' });
const throws = (): never => {
  throw noMemory;
};
/** As Node.js does it: the error comes later. */
const getsNoPid = () => {
  const child = new ScriptedChild(undefined);
  process.nextTick(() => child.emit('error', noDescriptors));
  return child;
};

afterEach(() => void jest.useRealTimers());

/** @param forks what happens at the first fork, at the second, and so on */
function keep(...forks: (() => ScriptedChild)[]) {
  const logged: { pauseMs: number; err?: Error; message: string }[] = [];
  const log = {
    error: (line: { pauseMs: number }, message: string) => logged.push({ ...line, message }),
  } as unknown as Log;
  const kept = new KeptProcess('api', log, new SummedMetrics(), () => forks.shift()!() as unknown as Worker);
  return { kept, logged, left: () => forks.length };
}

test.each([
  ['throws', throws, noMemory],
  ['gets no pid', getsNoPid, noDescriptors],
])('a child has ended, and the fork of the next one %s → tried again after a longer pause', async (_, fails, err) => {
  const [first, third] = [new ScriptedChild(1), new ScriptedChild(3)];
  const { kept, logged } = keep(
    () => first,
    fails,
    () => third,
  );
  const started = kept.start();
  first.emit('message', readyMessage);
  await started;
  first.emit('exit', 1, null);
  await until(() => kept.pid === 3);
  third.emit('message', readyMessage);
  expect(kept.isReady).toBe(true);
  expect(logged).toEqual([
    expect.objectContaining({ pauseMs: 250, message: 'a process has ended and is started again' }),
    { half: 'api', pauseMs: 500, err, message: 'a process could not begin and is started again' },
  ]);
});

test.each([
  ['throws', throws, 'ENOMEM'],
  ['gets no pid', getsNoPid, 'EMFILE'],
])('the first fork %s → says why, and no second one', async (_, fails, code) => {
  const { kept, logged, left } = keep(fails, () => new ScriptedChild(2));
  await expect(kept.start()).rejects.toThrow(`a process (api) could not start: spawn ${code}`);
  expect([logged, left()]).toEqual([[], 1]);
  expect(await kept.stop()).toBe(true);
});

test('its metrics are asked for → it is asked only when it is ready', async () => {
  const child = new ScriptedChild(1);
  const { kept } = keep(() => child);
  const started = kept.start();
  await kept.lookAtFigures();
  expect(child.heard).toEqual([]);
  child.emit('message', readyMessage);
  await started;
  const looked = kept.lookAtFigures();
  expect(child.heard).toEqual([{ id: 1, question: 'figures' }]);
  child.emit('message', { id: 1, answer: [{ name: 'a' }] });
  await looked;
  expect(kept.figures).toEqual([{ name: 'a' }]);
});

test('it is ready and silent → that is said before the 2.5 s of haproxy.cfg are over', async () => {
  const child = new ScriptedChild(1);
  const { kept } = keep(() => child);
  const started = kept.start();
  child.emit('message', readyMessage);
  await started;
  holdTheClock('timeouts');
  let answer: unknown = 'none yet';
  void kept.ask('readiness').then((given) => (answer = given));
  // It may wait for its database for 2 s.
  await jest.advanceTimersByTimeAsync(2_200);
  expect(answer).toBe('none yet');
  await jest.advanceTimersByTimeAsync(200);
  expect(answer).toBeUndefined();
});
