/** The client repeats requests by the contract's table. A server that refuses once, then answers, stands for the service. */
import { retryOfProblem } from '../../../codegen/retries.ts';
import { NoAnswer, persistently, RequestFailed, TranscriptionClient } from '../../../scripts/client/index.ts';
import { Patience } from '../../../scripts/client/persistence.ts';
import { holdTheClock } from '../../support/faults/held-clock.ts';
import { jest } from '../../support/run/jest.ts';
import { serve } from '../../support/serve.ts';
import type { Retry } from '../../../codegen/retries.ts';

interface Refusal {
  status: number;
  code?: string;
  retryAfter?: number;
}

/** Refuses so many times, then answers an empty list. */
async function refusing(refusal: Refusal, times: number) {
  let asked = 0;
  const { url } = await serve((_req, res) => {
    asked += 1;
    if (asked > times) return void res.setHeader('Content-Type', 'application/json').end('{"items":[]}');
    const { status, code, retryAfter } = refusal;
    if (retryAfter !== undefined) res.setHeader('Retry-After', retryAfter);
    res.writeHead(status, { 'Content-Type': code === undefined ? 'text/html' : 'application/problem+json' });
    res.end(
      code === undefined ? '<h1>Bad Gateway</h1>' : JSON.stringify({ type: 'about:blank', title: 'No', status, code }),
    );
  });
  const client = new TranscriptionClient({ url, apiKey: 'a' });
  const pauses: number[] = [];
  const onPause = (_why: unknown, ms: number) => {
    pauses.push(ms);
    setImmediate(() => jest.advanceTimersByTime(ms));
  };
  const pages = () => Array.fromAsync(client.pages({}, { onPause }));
  return { pages, pauses, asked: () => asked };
}

beforeEach(() => holdTheClock('timeouts'));
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

test.each(Object.entries(retryOfProblem))('%s → %s', async (code, retry) => {
  const service = await refusing({ status: 400, code }, 1);
  const outcome = await service.pages().catch((error: unknown) => error);
  const isRepeated = retry === 'later' || retry === 'same_key';
  if (isRepeated) expect(outcome).toEqual([{ items: [] }]);
  else expect(outcome).toMatchObject({ retry, problem: { code } });
  expect(service.asked()).toBe(isRepeated ? 2 : 1);
});

test.each<[string, Refusal, number]>([
  ['a new code with Retry-After', { status: 409, code: 'brand_new', retryAfter: 1 }, 2],
  ['a new code without', { status: 409, code: 'brand_new' }, 1],
  ['a proxy that finds no service', { status: 502 }, 2],
  ['a proxy that waited too long for a request', { status: 408 }, 2],
  ['a proxy that has enough of a client', { status: 429 }, 2],
  ['a proxy that takes no such body', { status: 413, retryAfter: 1 }, 1],
  ['a proxy that knows no such path', { status: 404 }, 1],
])('%s → as the contract says', async (_, refusal, asked) => {
  const service = await refusing(refusal, 1);
  await service.pages().catch((error: unknown) => expect(error).toBeInstanceOf(RequestFailed));
  expect(service.asked()).toBe(asked);
});

test('`Retry-After`, as seconds or as a date → waited for', async () => {
  const service = await refusing({ status: 429, code: 'rate_limited', retryAfter: 1 }, 1);
  await service.pages();
  expect(service.pauses).toEqual([1_000]);
  const response = new Response('', {
    status: 503,
    headers: { 'Retry-After': new Date(Date.now() + 60_000).toUTCString() },
  });
  const { retryAfterMs } = new RequestFailed(response, undefined);
  expect(Math.round(retryAfterMs! / 10_000)).toBe(6);
});

test.each<[string, Retry, number | undefined, number[]]>([
  [
    'without a `Retry-After` → longer and longer, for about two minutes',
    'same_key',
    undefined,
    [1, 2, 4, 8, 16, 30, 30],
  ],
  ['with one → after that, for two minutes', 'same_key', 50_000, [50, 50]],
  ['with one of nothing → not at once', 'same_key', 0, Array.from({ length: 120 }, () => 1)],
  ['not by its own fault → for two hours', 'later', 60_000, Array.from({ length: 120 }, () => 60)],
  ['that is put off for a month → not at all, and never by more than a timer can', 'later', 30 * 86_400_000, []],
  ['of no use → not at all', 'change_request', 1_000, []],
])('a repeat %s', (_, retry, retryAfterMs, seconds) => {
  jest.spyOn(Math, 'random').mockReturnValue(0);
  const patience = new Patience();
  const pauses = Array.from({ length: 500 }, () => patience.pauseMs(retry, retryAfterMs)).filter(
    (ms) => ms !== undefined,
  );
  expect(pauses).toEqual(seconds.map((each) => each * 1_000));
});

test('pauses without `Retry-After` → up to a quarter longer by chance', () => {
  jest.spyOn(Math, 'random').mockReturnValue(1);
  expect(new Patience().pauseMs('later')).toBe(1_250);
});

test('nothing that answers → NoAnswer; an end by the caller ends the pause', async () => {
  const nobody = () => Promise.reject(new TypeError('fetch failed'));
  const enough = new AbortController();
  const asking = { signal: enough.signal, onPause: () => setImmediate(() => enough.abort(new Error('enough'))) };
  await expect(persistently(nobody, asking)).rejects.toThrow('enough');
  jest.spyOn(Patience.prototype, 'pauseMs').mockReturnValue(undefined);
  await expect(persistently(nobody)).rejects.toBeInstanceOf(NoAnswer);
});

test('a redirect → told, and neither key nor recording goes to the other host', async () => {
  const asked: string[] = [];
  const other = await serve((req, res) => res.end(String(asked.push(req.url!))));
  const { url } = await serve((_req, res) => res.writeHead(307, { Location: `${other.url}/v1/sessions` }).end());
  const client = new TranscriptionClient({ url, apiKey: 'a' });
  const refusal = { name: 'RequestFailed', status: 307, message: expect.stringContaining(`leads to ${other.url}/v1`) };
  await expect(client.pages().next()).rejects.toMatchObject(refusal);
  await expect(client.upload(new Blob(['secret']))).rejects.toMatchObject(refusal);
  expect(asked).toEqual([]);
});
