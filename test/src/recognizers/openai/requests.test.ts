/** Servers of different kinds, in a time that the test lets pass. */
import pLimit from 'p-limit';
import { jest } from '../../../support/run/jest.ts';
import { Refusal } from '../../../../src/recognizers/openai/refusal.ts';
import { Requests } from '../../../../src/recognizers/openai/requests.ts';

const audioMs = 120_000;
const { signal } = new AbortController();
beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const refusal = (status: number, headers = {}) => new Refusal(status, new Headers(headers), 'slow down');
const fine = async () => {};

/** @param silence what the server says to it, as long as it has no room */
function requestsTo(most: number, silence: () => Refusal | undefined = () => undefined) {
  const seen = { looks: 0, busy: 0 };
  const findRoom = async () => ((seen.looks += 1), silence());
  const onBusy = () => void (seen.busy += 1);
  const requests = new Requests({ most, retries: 8, findRoom, onBusy });
  const hear = (
    send: (stop: AbortSignal) => Promise<void>,
    { owner = 'one', slots = requests.slotsOf(owner), limitMs = 2 ** 31 - 1, stop = signal } = {},
  ) => slots.run(() => requests.answer({ audioMs, limitMs, signal: stop }, send), stop);
  return { requests, seen, hear };
}

const untilStopped = (stop: AbortSignal) =>
  new Promise<never>((_, leave) => stop.addEventListener('abort', () => leave(stop.reason)));

/** To a server that works on one request at a time, for so many ms. */
async function sendInLine(ms: number, count: number) {
  const { requests, hear } = requestsTo(4);
  const line = pLimit(1);
  const answer = () => new Promise<void>((done) => setTimeout(done, ms));
  const send = (stop: AbortSignal) => line(() => Promise.race([answer(), untilStopped(stop)]));
  const all = Promise.allSettled(Array.from({ length: count }, () => hear(send, { limitMs: 1_500 })));
  await jest.runAllTimersAsync();
  const late = (await all).filter(({ status }) => status === 'rejected');
  for (const each of late) expect(each).toMatchObject({ reason: { code: 'timed_out', retryable: true } });
  return { count: requests.slotsOf('one').count, late: late.length };
}

test('one at a time: the limit counts from when an answer could begin; what takes longer is timed_out, and half as many are sent', async () => {
  expect(await sendInLine(1_000, 8)).toMatchObject({ late: 0 });
  expect(await sendInLine(2_000, 4)).toMatchObject({ late: 4, count: 2 });
});

test.each([
  ['429 that asks for two hours', 429, { 'retry-after': '7200' }],
  ['503', 503, {}],
])(
  '%s → all wait, and no limit runs; silence is sent once a minute at least, and opens for all',
  async (_, status, headers) => {
    let isFull = true;
    const { requests, seen, hear } = requestsTo(8, () => (isFull ? refusal(status, headers) : undefined));
    let asked = 0;
    const send = async () => {
      asked += 1;
      if (isFull) throw refusal(status, headers);
    };
    const first = hear(send, { limitMs: 1_000 });
    await jest.advanceTimersByTimeAsync(1);
    const others = Array.from({ length: 6 }, (_each, index) => hear(send, { owner: `${index}`, limitMs: 1_000 }));
    for (let minute = 1; minute <= 7; minute += 1) {
      await jest.advanceTimersByTimeAsync(60_000);
      expect(seen.looks).toBeGreaterThanOrEqual(minute);
    }
    expect({ asked, told: seen.busy, why: requests.busy?.status }).toEqual({ asked: 1, told: 1, why: status });
    isFull = false;
    await jest.advanceTimersByTimeAsync(60_000);
    await Promise.all([first, ...others]);
    expect({ asked, busy: requests.busy }).toEqual({ asked: 8, busy: undefined });
  },
);

test.each([
  [{ 'retry-after': '2' }, 2_000],
  [{ 'retry-after': 'Thu, 01 Jan 1970 00:00:03 GMT' }, 3_000],
  [{ 'retry-after': '2', 'retry-after-ms': '2500' }, 2_500],
  [{ 'retry-after': 'soon' }, undefined],
])('%j → wait %p ms', (headers, ms) => {
  jest.useFakeTimers({ now: 0 });
  expect(refusal(429, headers).retryAfterMs).toBe(ms);
});

test('no room for a moment → nothing to tell; who leaves, leaves at once', async () => {
  const { requests, seen, hear } = requestsTo(8);
  let earlier = 0;
  const heard = hear(async () => {
    if ((earlier += 1) === 1) throw refusal(429, { 'retry-after-ms': '3000' });
  });
  const left = new AbortController();
  await jest.advanceTimersByTimeAsync(100);
  const leaving = hear(fine, { stop: left.signal });
  const gone = expect(leaving).rejects.toThrow('left');
  left.abort(new Error('left'));
  await gone;
  await jest.advanceTimersByTimeAsync(2_800);
  expect(earlier).toBe(1);
  await jest.advanceTimersByTimeAsync(200);
  await heard;
  expect({ earlier, ...seen, requests: requests.load().requests.busy }).toEqual({ earlier: 2, looks: 1, busy: 0, requests: 1 });
}); // prettier-ignore

test('what passes → eight more tries over some 45 s, at least as far apart as the server asks, and no more than a minute', async () => {
  const { hear } = requestsTo(8);
  const times: number[] = [];
  const failing = hear(async () => {
    times.push(Date.now());
    throw times.length === 1 ? refusal(500, { 'retry-after': '7200' }) : new TypeError('fetch failed');
  });
  const failed = expect(failing).rejects.toThrow('fetch failed');
  await jest.advanceTimersByTimeAsync(150_000);
  await failed;
  expect(times).toHaveLength(9);
  expect(times[1]! - times[0]!).toBe(60_000);
  expect(times.at(-1)! - times[1]!).toBeGreaterThan(29_000);
  expect(times.at(-1)! - times[1]!).toBeLessThan(50_000);
});

test('many chunks of one account → another one waits for the next of them, not for all', async () => {
  const { hear } = requestsTo(1);
  const heard: string[] = [];
  const of = (owner: string) => hear(async () => void heard.push(owner), { owner });
  await Promise.all([...Array.from({ length: 10 }, () => of('long')), of('short')]);
  expect(heard.indexOf('short')).toBeLessThanOrEqual(2);
});

test('recordings that are held → what a long one uses of the server is not held for others', async () => {
  const { requests, hear } = requestsTo(8);
  const waiting: (() => void)[] = [];
  const ask = () => new Promise<void>((answer) => waiting.push(answer));
  const answerAll = async (...heard: Promise<void>[]) => {
    await jest.advanceTimersByTimeAsync(1_000);
    for (const answer of waiting.splice(0)) answer();
    await Promise.all(heard);
  };
  await answerAll(hear(ask));
  expect(requests.jobsAtOnce()).toBe(11);
  const slots = requests.slotsOf('one');
  const chunks = [hear(ask, { slots }), hear(ask, { slots }), hear(ask, { slots }), hear(ask)];
  expect(requests.jobsAtOnce()).toBe(9);
  await answerAll(...chunks);
  expect(requests.jobsAtOnce()).toBe(11);
});

test('how requests end → counted; what a stopped job asked for counts nowhere', async () => {
  const { requests, hear } = requestsTo(8);
  const left = new AbortController();
  const once =
    (...errors: Error[]) =>
    async () => {
      const next = errors.pop();
      if (next !== undefined) throw next;
    };
  const asked = [
    ...[hear(fine), hear(once(refusal(500))), hear(once(refusal(400))), hear(once(new TypeError('fetch failed')))],
    ...[hear(untilStopped, { limitMs: 1_000 }), hear(untilStopped, { stop: left.signal })],
  ];
  const ended = Promise.allSettled(asked);
  await jest.advanceTimersByTimeAsync(900);
  expect(requests.load()).toMatchObject({ inFlight: 2, waiting: 0 });
  left.abort();
  await jest.advanceTimersByTimeAsync(1_000);
  await ended;
  expect(requests.load()).toMatchObject({
    ...{ inFlight: 0, waiting: 0 },
    requests: { transcribed: 3, busy: 0, timed_out: 1, refused: 1, broken: 2 },
  });
});
