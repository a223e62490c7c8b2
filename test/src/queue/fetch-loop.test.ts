import { FetchLoop } from '../../../src/queue/fetch-loop.ts';
import { holdTheClock } from '../../support/faults/held-clock.ts';
import { jest } from '../../support/run/jest.ts';
import { until } from '../../support/until.ts';

/** A queue of numbers. It notes how many were asked for each time, and ends a job when the test says so. */
class Numbers {
  waiting: number[] = [];
  readonly asked: number[] = [];
  readonly running = new Map<number, () => void>();
  readonly errors: string[] = [];
  processes = 1;
  countProcesses = async () => this.processes;
  /** What happens while jobs are taken. */
  meanwhile: () => Promise<void> = async () => {};

  async take(count: number): Promise<number[]> {
    this.asked.push(count);
    const taken = this.waiting.splice(0, count);
    await this.meanwhile();
    return taken;
  }

  run(job: number): Promise<void> {
    return new Promise((end) => void this.running.set(job, end));
  }

  readonly onError = (error: Error) => void this.errors.push(error.message);

  end(job: number): void {
    this.running.get(job)!();
    this.running.delete(job);
  }
}

let numbers: Numbers;
let loop: FetchLoop<number>;
beforeEach(() => {
  // Its own clock never comes to the help of a ring that was lost.
  holdTheClock('timeouts');
  numbers = new Numbers();
});
afterEach(async () => {
  const stopped = loop.stop();
  for (const job of numbers.running.keys()) numbers.end(job);
  await stopped;
  jest.useRealTimers();
});
const asks = (times: number) => until(() => numbers.asked.length === times);

test('one ring for an idle process of eight places → one look, and one more behind what came', async () => {
  loop = new FetchLoop(() => 8, numbers);
  await asks(1);
  numbers.waiting = [1, 2];
  loop.ring();
  await asks(3);
  expect(numbers.asked).toEqual([8, 8, 6]);
  expect([...numbers.running.keys()]).toEqual([1, 2]);
});

test('no free place → rings fetch nothing; the place of a job that ends is filled at once', async () => {
  numbers.waiting = [1, 2, 3];
  loop = new FetchLoop(() => 2, numbers);
  await until(() => numbers.running.size === 2);
  for (let i = 0; i < 5; i++) loop.ring();
  numbers.end(1);
  await until(() => numbers.running.has(3));
  expect(numbers.asked).toEqual([2, 1]);
});

test('a job ends and the next is found → nothing behind it is looked for, unless two have ended and one was found', async () => {
  numbers.waiting = [1, 2];
  loop = new FetchLoop(() => 4, numbers);
  await until(() => numbers.asked.length === 2);
  numbers.waiting = [3];
  numbers.end(1);
  await until(() => numbers.running.has(3));
  await new Promise(setImmediate);
  expect(numbers.asked).toEqual([4, 2, 3]);

  numbers.waiting = [4];
  numbers.end(2);
  numbers.end(3);
  await until(() => numbers.running.has(4));
  await new Promise(setImmediate);
  expect(numbers.asked).toEqual([4, 2, 3, 4, 3]);
});

test('more places, then fewer → as many jobs run as there are places now', async () => {
  let places = 1;
  numbers.waiting = [1, 2, 3, 4];
  loop = new FetchLoop(async (running) => Math.max(running, places), numbers);
  await until(() => numbers.running.size === 1);
  places = 3;
  loop.ring();
  await until(() => numbers.running.size === 3);
  expect(loop.use).toEqual({ running: 3, places: 3 });
  places = 1;
  numbers.end(1);
  numbers.end(2);
  await until(() => numbers.running.size === 1);
  loop.ring();
  await new Promise(setImmediate);
  expect([...numbers.running.keys()]).toEqual([3]);
  numbers.end(3);
  await until(() => numbers.running.has(4));
  expect(numbers.asked).toEqual([1, 2, 1]);
});

test('a ring while jobs are taken → heard afterwards', async () => {
  const taking = Promise.withResolvers<void>();
  numbers.meanwhile = () => taking.promise;
  loop = new FetchLoop(() => 1, numbers);
  await asks(1);
  numbers.waiting = [1];
  loop.ring();
  taking.resolve();
  await until(() => numbers.running.has(1));
});

test('closed → takes nothing until it is opened, and running jobs go on', async () => {
  numbers.waiting = [1];
  loop = new FetchLoop(() => 2, numbers);
  await until(() => numbers.running.has(1));
  await asks(2);
  loop.close();
  numbers.waiting = [2];
  loop.ring();
  expect([...numbers.running.keys()]).toEqual([1]);
  loop.open();
  await until(() => numbers.running.has(2));
});

test('the database is away → said, and the next ring asks again', async () => {
  numbers.meanwhile = async () => {
    numbers.meanwhile = async () => {};
    throw new Error('away');
  };
  loop = new FetchLoop(() => 1, numbers);
  await until(() => numbers.errors.length === 1);
  numbers.waiting = [1];
  loop.ring();
  await until(() => numbers.running.has(1));
  expect(numbers.errors).toEqual(['away']);
});

describe('a hundred processes that hear of each job', () => {
  const rounds = 300;
  let loops: FetchLoop<number>[];
  beforeEach(async () => {
    let seed = 1;
    jest.spyOn(Math, 'random').mockImplementation(() => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647);
    numbers.processes = 100;
    loops = Array.from({ length: 100 }, () => new FetchLoop(() => 1, numbers));
    loop = loops[0]!;
    await asks(100);
  });
  afterEach(() => Promise.all(loops.map((each) => each.stop())));

  /** Tells all of a job, and lets those look who do. */
  async function tell(job?: number): Promise<void> {
    if (job !== undefined) numbers.waiting.push(job);
    for (const each of loops) each.hear();
    await new Promise(setImmediate);
  }

  test('jobs that may run → nearly all are taken at once, by three looks each', async () => {
    let late = 0;
    for (let round = 0; round < rounds; round++) {
      await tell(round);
      late += numbers.waiting.length;
      numbers.waiting = [];
      for (const job of numbers.running.keys()) numbers.end(job);
      await new Promise(setImmediate);
      if (round === rounds / 2) numbers.asked.length = 0;
    }
    expect(late).toBeLessThan(rounds / 10);
    // One more when the job ends.
    expect(numbers.asked.length / (rounds / 2)).toBeLessThan(1 + 5);
  });

  test('jobs that nobody may run now → a look for every second one', async () => {
    for (let round = 0; round < rounds; round++) await tell();
    numbers.asked.length = 0;
    for (let round = 0; round < rounds; round++) await tell();
    expect(numbers.asked.length / rounds).toBeLessThan(1);
  });
});
