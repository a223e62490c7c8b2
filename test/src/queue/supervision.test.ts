import { jest } from '../../support/run/jest.ts';
import { supervise } from '../../../src/queue/supervision.ts';
import { holdTheClock } from '../../support/faults/held-clock.ts';

let stopping: AbortController;
let ended: Promise<void>;
let looks: number[];
let errors: string[];
let ask: () => Promise<boolean>;
let look: () => Promise<void>;
beforeEach(() => {
  holdTheClock('timeouts', 'performance');
  [looks, errors, ask, look] = [[], [], async () => true, async () => {}];
  const began = performance.now();
  const supervised = {
    ask: () => ask(),
    look() {
      looks.push(Math.round((performance.now() - began) / 1_000));
      return look();
    },
    onError: ({ message }: Error) => errors.push(message),
  };
  stopping = new AbortController();
  ended = supervise(supervised, stopping.signal);
});
afterEach(async () => {
  stopping.abort();
  await ended;
  jest.useRealTimers();
});

test('all is well → a look after 10 s, then every 5 s, until it is stopped', async () => {
  await jest.advanceTimersByTimeAsync(27_000);
  expect(looks).toEqual([10, 15, 20, 25]);
  stopping.abort();
  await ended;
  await jest.advanceTimersByTimeAsync(60_000);
  expect(looks).toHaveLength(4);
});

test('no worker holds a job → a look every minute, and within 5 s when one does', async () => {
  ask = async () => false;
  await jest.advanceTimersByTimeAsync(142_000);
  expect(looks).toEqual([10, 70, 130]);
  ask = async () => true;
  await jest.advanceTimersByTimeAsync(12_000);
  expect(looks.slice(3)).toEqual([145, 150]);
});

test('the database is away for a while → the next look 10 s after its first answer', async () => {
  await jest.advanceTimersByTimeAsync(12_000);
  ask = () => Promise.reject(new Error('away'));
  await jest.advanceTimersByTimeAsync(30_000);
  ask = async () => true;
  await jest.advanceTimersByTimeAsync(30_000);
  expect(errors).toEqual(['away', 'away', 'away']);
  expect(looks.slice(0, 3)).toEqual([10, 45, 50]);
});

test('the database answers after 4 s → no look for 10 s more', async () => {
  ask = () => new Promise((resolve) => setTimeout(() => resolve(true), 4_000));
  await jest.advanceTimersByTimeAsync(14_000);
  ask = async () => true;
  await jest.advanceTimersByTimeAsync(12_000);
  expect(looks).toEqual([24]);
});

test('a look fails → it is told, and the next comes after 10 s', async () => {
  look = () => Promise.reject(new Error('no rights'));
  await jest.advanceTimersByTimeAsync(12_000);
  look = async () => {};
  await jest.advanceTimersByTimeAsync(14_000);
  expect(errors).toEqual(['no rights']);
  expect(looks).toEqual([10, 20, 25]);
});

test('stopped during a look → ends with it', async () => {
  look = () => new Promise((resolve) => setTimeout(resolve, 1_000));
  await jest.advanceTimersByTimeAsync(10_500);
  let hasEnded = false;
  stopping.abort();
  const stopped = ended.then(() => (hasEnded = true));
  expect(hasEnded).toBe(false);
  await jest.advanceTimersByTimeAsync(600);
  expect(hasEnded).toBe(true);
  await stopped;
});
