/** The client repeats requests by the contract's table. A server that refuses once, then answers, stands for the service. */
import { retryOfProblem } from '../../../codegen/retries.ts';
import { NoAnswer, persistently, RequestFailed, TranscriptionClient } from '../../../scripts/client/index.ts';
import { serve } from '../../support/serve.ts';

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
  const pages = () => Array.fromAsync(client.pages({}, { onPause: (_why, ms) => void pauses.push(ms) }));
  return { pages, pauses, asked: () => asked };
}

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
  ['a proxy that knows no such path', { status: 404 }, 1],
])('%s → as the contract says', async (_, refusal, asked) => {
  const service = await refusing(refusal, 1);
  await service.pages().catch((error: unknown) => expect(error).toBeInstanceOf(RequestFailed));
  expect(service.asked()).toBe(asked);
});

test('`Retry-After` → waited for', async () => {
  const service = await refusing({ status: 429, code: 'rate_limited', retryAfter: 1 }, 1);
  await service.pages();
  expect(service.pauses).toEqual([1_000]);
});

test('what stays unavailable → given up after four tries, with longer and longer pauses', async () => {
  const service = await refusing({ status: 503, code: 'unavailable' }, Infinity);
  await expect(service.pages()).rejects.toMatchObject({ retry: 'same_key', status: 503 });
  expect([service.asked(), service.pauses]).toEqual([4, [500, 1_000, 2_000]]);
});

test('nothing that answers → NoAnswer; an end by the caller ends the pause', async () => {
  const nobody = () => Promise.reject(new TypeError('fetch failed'));
  const enough = new AbortController();
  const asking = { signal: enough.signal, onPause: () => enough.abort(new Error('enough')) };
  await expect(persistently(nobody, asking)).rejects.toThrow('enough');
  await expect(persistently(nobody)).rejects.toBeInstanceOf(NoAnswer);
});
