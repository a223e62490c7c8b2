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
  [4, 256, 4],
  [64, 8, 8],
])('a server that works on %i at once, with at most %i → gets %i', async (atOnce, most, expected) => {
  const server = new Server(atOnce, 1_000);
  const requests = new Requests(most, false);
  await sendTo(server, requests, 40 * atOnce);
  // It may just try more.
  expect(requests.slotsOf('one').count).toBeLessThanOrEqual(2 * expected + 1);
  expect(requests.slotsOf('one').count).toBeGreaterThanOrEqual(0.7 * expected);
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

test('recordings that are held → what a long one uses of the server is not held for others', async () => {
  const requests = new Requests(8, false);
  const waiting: (() => void)[] = [];
  const hear = (slots = requests.slotsOf('one')) => {
    const ask = () => new Promise<void>((answer) => waiting.push(answer));
    const limits = { audioMs, limitMs: 2 ** 31 - 1, signal };
    return slots.run(() => requests.answer(limits, (_, inTurn) => inTurn(ask)), signal);
  };
  const answerAll = async (...heard: Promise<void>[]) => {
    await jest.advanceTimersByTimeAsync(1_000);
    for (const answer of waiting.splice(0)) answer();
    await Promise.all(heard);
  };
  await answerAll(hear());
  expect(requests.jobsAtOnce()).toBe(11);
  const long = requests.slotsOf('one');
  const pieces = [hear(long), hear(long), hear(long), hear()];
  expect(requests.jobsAtOnce()).toBe(9);
  await answerAll(...pieces);
  expect(requests.jobsAtOnce()).toBe(11);
});

test('how requests end → counted; what a stopped job asked for counts nowhere', async () => {
  const requests = new Requests(8, false);
  const left = new AbortController();
  const ask = (send: () => Promise<void>, limitMs = 60_000, stop = signal) =>
    requests
      .slotsOf('one')
      .run(
        () => requests.answer({ audioMs, limitMs, signal: stop }, (end, inTurn) => inTurn(() => race(send(), end))),
        stop,
      );
  const never = () => new Promise<void>(() => {});
  const race = (sent: Promise<void>, end: AbortSignal) =>
    Promise.race([sent, new Promise<never>((_, leave) => end.addEventListener('abort', () => leave(end.reason)))]);
  const refuse = (status: number) => () => Promise.reject(new Refusal(status, new Headers(), 'no'));
  const asked = [
    ...[ask(async () => {}), ask(refuse(429)), ask(refuse(503)), ask(refuse(500)), ask(refuse(400))],
    ...[ask(() => Promise.reject(new TypeError('fetch failed'))), ask(never, 1_000), ask(never, 60_000, left.signal)],
  ];
  const ended = Promise.allSettled(asked);
  await jest.advanceTimersByTimeAsync(500);
  expect(requests.load()).toMatchObject({ inFlight: 2, waiting: 0 });
  left.abort();
  await jest.advanceTimersByTimeAsync(1_000);
  await ended;
  expect(requests.load()).toMatchObject({
    ...{ inFlight: 0, waiting: 0 },
    requests: { transcribed: 1, busy: 2, timed_out: 1, refused: 1, broken: 2 },
  });
});
