/** Servers of different kinds, in a time that the test lets pass. */
import { jest } from '../../../support/run/jest.ts';
import { Refusal } from '../../../../src/recognizers/openai/refusal.ts';
import { Requests } from '../../../../src/recognizers/openai/requests.ts';

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

async function sendTo(server: Server, requests: Requests, count: number, limitMs = 2 ** 31 - 1): Promise<void> {
  const all = Array.from({ length: count }, () =>
    requests
      .slotsOf('one')
      .run(
        () => requests.answer({ audioMs, limitMs, signal }, (stop, inTurn) => inTurn(() => server.answer(stop))),
        signal,
      ),
  );
  const settled = Promise.all(all);
  settled.catch(() => undefined);
  await jest.runAllTimersAsync();
  await settled;
}

test.each([
  [1, 256, 1],
  [4, 256, 4],
  [64, 256, 64],
  [64, 8, 8],
])('a server that works on %i at once, with at most %i → gets %i', async (atOnce, most, expected) => {
  const server = new Server(atOnce, 1_000);
  const requests = new Requests(most, false);
  await sendTo(server, requests, 40 * atOnce);
  expect(requests.slotsOf('one').count).toBeLessThanOrEqual(1.5 * expected);
  expect(requests.slotsOf('one').count).toBeGreaterThanOrEqual(0.75 * expected);
});

test('a server that gets room → is found out, and gets more', async () => {
  const requests = new Requests(256, false);
  await sendTo(new Server(1, 1_000), requests, 40);
  expect(requests.slotsOf('one').count).toBeLessThanOrEqual(2);
  await sendTo(new Server(4, 1_000), requests, 300);
  expect(requests.slotsOf('one').count).toBeGreaterThanOrEqual(4);
});

test('one at a time, each within its limit → all are answered, although the last waits longer than the limit', async () => {
  await sendTo(new Server(1, 1_000), new Requests(4, false), 8, 1_500);
});

test('an answer that takes longer than the limit, from when it could begin → timed_out, retryable, and half as many', async () => {
  const requests = new Requests(4, false);
  const stuck = new Server(1, 2_000);
  await expect(sendTo(stuck, requests, 4, 1_500)).rejects.toMatchObject({ code: 'timed_out', retryable: true });
  expect(requests.slotsOf('one').count).toBe(2);
});

test('a Retry-After → nobody asks before it', async () => {
  jest.useRealTimers();
  const requests = new Requests(4, false);
  const askedAt: number[] = [];
  const ask = () => {
    askedAt.push(performance.now());
    if (askedAt.length > 1) return Promise.resolve();
    return Promise.reject(new Refusal(429, new Headers({ 'retry-after-ms': '300' }), 'slow down'));
  };
  const limits = { audioMs, limitMs: 60_000, signal };
  const began = performance.now();
  await expect(requests.answer(limits, (_, inTurn) => inTurn(ask))).rejects.toBeInstanceOf(Refusal);
  await requests.answer(limits, (_, inTurn) => inTurn(ask));
  // Timers may be a little early.
  expect(askedAt[1]! - began).toBeGreaterThanOrEqual(290);
});

test('many pieces of one account → another one waits for the next of them, not for all', async () => {
  const requests = new Requests(1, false);
  const heard: string[] = [];
  const hear = (owner: string) =>
    requests.slotsOf(owner).run(async () => {
      await requests.answer({ audioMs, limitMs: 60_000, signal }, (_, inTurn) => inTurn(() => Promise.resolve()));
      heard.push(owner);
    }, signal);
  const long = Array.from({ length: 10 }, () => hear('long'));
  await Promise.all([...long, hear('short')]);
  expect(heard.indexOf('short')).toBeLessThanOrEqual(2);
});
