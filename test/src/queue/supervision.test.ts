/** When a process looks for jobs whose worker is gone. */
import { jest } from '../../support/run/jest.ts';
import { JobConsumer } from '../../../src/queue/job-consumer.ts';
import { holdTheClock } from '../../support/faults/held-clock.ts';
import type { PgBoss } from 'pg-boss';

const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);
let taking: JobConsumer;
let looks: number[];
let errors: string[];
let hasJob: () => Promise<boolean>;
let look: () => Promise<void>;
beforeEach(() => {
  holdTheClock('timeouts', 'performance');
  [looks, errors, hasJob, look] = [[], [], async () => true, async () => {}];
  const began = performance.now();
  const boss = {
    fetch: async () => [],
    getDb: () => ({ executeSql: async () => ({ rows: [{ hasJob: await hasJob() }] }) }),
    supervise() {
      looks.push(Math.round((performance.now() - began) / 1_000));
      return look();
    },
  } as unknown as PgBoss;
  taking = new JobConsumer(boss, 'a queue', () => 1, async () => {}, ({ message }) => errors.push(message)); // prettier-ignore
});
afterEach(async () => {
  const stopped = taking.stop();
  await pass(10_000);
  await stopped;
  jest.useRealTimers();
});

test('all is well → a look after 10 s, then every 5 s, until it is stopped', async () => {
  await pass(27_000);
  expect(looks).toEqual([10, 15, 20, 25]);
  await taking.stop();
  await pass(60_000);
  expect(looks).toHaveLength(4);
});

test('no worker holds a job → a look every minute, and within 5 s when one does', async () => {
  hasJob = async () => false;
  await pass(142_000);
  expect(looks).toEqual([10, 70, 130]);
  hasJob = async () => true;
  await pass(8_000);
  expect(looks.slice(3)).toEqual([143, 148]);
});

test('the database is away for a while → the next look 10 s after its first answer', async () => {
  await pass(12_000);
  hasJob = () => Promise.reject(new Error('away'));
  await pass(30_000);
  hasJob = async () => true;
  await pass(20_000);
  expect(errors).toEqual(Array(12).fill('away'));
  expect(looks).toEqual([10, 53, 58]);
});

test('a look takes long → heartbeats do not wait for it, and no other begins', async () => {
  let asked = 0;
  hasJob = async () => (asked += 1) > 0;
  look = () => new Promise((resolve) => setTimeout(resolve, 9_000));
  await pass(18_000);
  expect([looks, asked]).toEqual([[10], 7]);
});

test('the database answers after 4 s → no look for 10 s more', async () => {
  hasJob = () => new Promise((resolve) => setTimeout(() => resolve(true), 4_000));
  await pass(9_000);
  hasJob = async () => true;
  await pass(20_000);
  expect(looks).toEqual([23, 28]);
});

test('a look fails → it is told, and the next comes as always', async () => {
  look = () => Promise.reject(new Error('no rights'));
  await pass(12_000);
  look = async () => {};
  await pass(4_000);
  expect(errors).toEqual(['no rights']);
  expect(looks).toEqual([10, 15]);
});
