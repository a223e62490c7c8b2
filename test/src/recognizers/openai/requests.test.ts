/** Servers of different kinds, in a time that the test lets pass. */
import { jest } from '../../../support/run/jest.ts';
import { Requests } from '../../../../src/recognizers/openai/requests.ts';

const most = 4;
const audioMs = 120_000;
const signal = new AbortController().signal;
beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

/** Works on so many requests at once; each takes `ms`. The others wait in a line. */
class Server {
  readonly #ms: number;
  #free: number;
  readonly #line: (() => void)[] = [];
  peak = 0;
  #open = 0;

  constructor(atOnce: number, ms: number) {
    this.#free = atOnce;
    this.#ms = ms;
  }

  async answer(stop: AbortSignal): Promise<void> {
    this.#open += 1;
    this.peak = Math.max(this.peak, this.#open);
    if (this.#free === 0) await new Promise<void>((resolve) => this.#line.push(resolve));
    else this.#free -= 1;
    const done = Promise.withResolvers<void>();
    const timer = setTimeout(done.resolve, this.#ms);
    stop.addEventListener('abort', () => done.reject(stop.reason));
    try {
      await done.promise;
    } finally {
      clearTimeout(timer);
      this.#open -= 1;
      const next = this.#line.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}

async function sendTo(server: Server, requests: Requests, count: number, limitMs = Infinity): Promise<void> {
  const limit = Math.min(limitMs, 2 ** 31 - 1);
  const all = Array.from({ length: count }, () =>
    requests.slots.run(() => requests.send({ audioMs, limitMs: limit, signal }, (stop) => server.answer(stop)), signal),
  );
  const settled = Promise.all(all);
  settled.catch(() => undefined);
  await jest.runAllTimersAsync();
  await settled;
}

test.each([
  [1, 1],
  [2, 2],
  [3, 3],
  [4, 4],
  [9, 4],
])('a server that works on %i at once → gets %i', async (atOnce, expected) => {
  const server = new Server(atOnce, 1_000);
  const requests = new Requests(most);
  await sendTo(server, requests, 40);
  server.peak = 0;
  // Within the rest, before it is tried anew.
  await sendTo(server, requests, 8);
  expect(server.peak).toBe(expected);
});

test('a server that gets room → is found out, and gets more', async () => {
  const requests = new Requests(most);
  await sendTo(new Server(1, 1_000), requests, 40);
  expect(requests.slots.count).toBe(1);
  const larger = new Server(4, 1_000);
  await sendTo(larger, requests, 300);
  larger.peak = 0;
  await sendTo(larger, requests, 8);
  expect(larger.peak).toBe(4);
});

test('one at a time, each within its limit → all are answered, although the last waits longer than the limit', async () => {
  await sendTo(new Server(1, 1_000), new Requests(most), 8, 1_500);
});

test('an answer that takes longer than the limit, from when it could begin → timed_out, retryable', async () => {
  const requests = new Requests(most);
  const stuck = new Server(1, 2_000);
  await expect(sendTo(stuck, requests, 4, 1_500)).rejects.toMatchObject({ code: 'timed_out', retryable: true });
});
