import { setTimeout as sleep } from 'node:timers/promises';
import { FormData as UndiciFormData, fetch as undiciFetch } from 'undici';
import { throughProxies } from '../../proxies.ts';
import { Presence } from './presence.ts';
import type { Response as UndiciResponse } from 'undici';

/** An answer about ten minutes of audio, with words, times, tokens and probabilities, is smaller than 1 MiB. */
const longestAnswerBytes = 8 * 1024 * 1024;

/** The package ignores a Retry-After that is longer than this. */
const longestPackageWaitMs = 60_000;
const longestTimerMs = 24 * 60 * 60_000;

/** OpenAI's codes for an account that has to pay, or to raise a limit, first. The same request fails until then. */
const unpaid = new Set(['insufficient_quota', 'billing_hard_limit_reached', 'billing_not_active']);

/** On an answer: the server breaks at this piece only. */
export const isAtFault = 'x-piece-at-fault';

/** Sends a request, and waits for the whole answer. */
export interface Exchange {
  fetch: typeof fetch;
  /** Whether its last answer came from whisper.cpp's own server. */
  isWhisperCpp(): boolean;
  /** What its requests tell of whether the server is there. */
  presence: Presence;
  /** Closes its connections. */
  close(): Promise<void>;
}

/**
 * The `fetch` for the `openai` package. It sends the key and the trace, and nothing about this machine. It follows no redirects, so
 * audio goes only to the server and the proxy that were named. It waits until the signal aborts, and refuses answers
 * that are too long. When a connection breaks within the answer it rejects, so that the package tries again.
 * @param keyHeader names the key
 * @param retries after which the package gives up
 * @param askAnother asks the server about something else, when it broke twice at one request
 * @throws {ConfigError} the address of a proxy is no address
 */
export function createExchange(
  keyHeader: Record<string, string>,
  retries: number,
  askAnother: () => Promise<unknown>,
): Exchange {
  // Node's own limit of five minutes is too short for a slow server with a queue.
  const dispatcher = throughProxies(process.env, { headersTimeout: 0, bodyTimeout: 0 });
  const headers = { accept: 'application/json', ...keyHeader };
  let isWhisperCpp = false;
  const presence = new Presence();
  return {
    close: () => dispatcher.destroy(),
    isWhisperCpp: () => isWhisperCpp,
    presence,
    async fetch(url, init) {
      const address = url instanceof Request ? url.url : url;
      const signal = init?.signal ?? null;
      const form = init?.body instanceof FormData ? { body: ownForm(init.body) } : {};
      const given = new Headers(init?.headers);
      const traceparent = given.get('traceparent');
      const sent = traceparent === null ? headers : { ...headers, traceparent };
      const request = { method: init?.method ?? 'GET', headers: sent, redirect: 'manual', signal, dispatcher } as const;
      const response = await undiciFetch(address, { ...request, ...form }).catch((error: unknown) => {
        // A job that was stopped says nothing of the server.
        if (!signal?.aborted) presence.silent(request.method, error);
        throw error;
      });
      // The package also asks `data:,`, to find out what this function can do.
      if (new URL(address).protocol !== 'data:') {
        presence.answered(request.method, response.status);
        isWhisperCpp = response.headers.get('server') === 'whisper.cpp';
      }
      const text = await textWithin(response, longestAnswerBytes);
      if (text === undefined) return refusal('there is no end of the answer', 502, { 'x-should-retry': 'false' });
      if (response.ok) return answerOf(text, response);
      if (unpaid.has(codeOf(text))) return refusal(text, response.status, { 'x-should-retry': 'false' });
      const earlier = Number(given.get('x-stainless-retry-count'));
      const isBroken = response.status === 500 && earlier === 1;
      if (isBroken && (await isAnswered(askAnother())))
        return refusal(text, response.status, { 'x-should-retry': 'false', [isAtFault]: 'true' });
      const isLast = earlier >= retries;
      return refusal(text, response.status, isLast ? {} : await retryHeaders(response, signal));
    },
  };
}

const isAnswered = (question: Promise<unknown>): Promise<boolean> =>
  question.then(
    () => true,
    () => false,
  );

/** The same form as undici's own class: its `fetch` does not know Node's class. */
function ownForm(form: FormData): UndiciFormData {
  const own = new UndiciFormData();
  for (const [name, value] of form) own.append(name, value);
  return own;
}

function answerOf(text: string, { status, headers }: UndiciResponse): Response {
  const type = headers.get('content-type') ?? 'application/octet-stream';
  return new Response(text === '' ? null : text, { status, headers: { 'content-type': type } });
}

/** @returns undefined when the text is longer */
async function textWithin(response: UndiciResponse, maxBytes: number): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * The headers that tell the package whether and when to try again. A pause that the package would ignore is waited for
 * here.
 */
async function retryHeaders({ headers, status }: UndiciResponse, signal: AbortSignal | null) {
  const kept = [...headers].filter(([name]) => ['x-should-retry', 'retry-after-ms', 'retry-after'].includes(name));
  // RFC 9110, section 10.2.3.
  const retryAfter = headers.get('retry-after') ?? '0';
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - Date.now();
  const isLong = ms > longestPackageWaitMs && (status === 429 || status >= 500);
  if (!isLong || headers.get('x-should-retry') === 'false') return Object.fromEntries(kept);
  await sleep(Math.min(ms - longestPackageWaitMs, longestTimerMs), undefined, signal === null ? {} : { signal });
  return { 'retry-after': String(longestPackageWaitMs / 1000) };
}

/** Puts a refusal into OpenAI's form, which is the only one that the package reads. */
function refusal(text: string, status: number, headers: Record<string, string>): Response {
  const body = parsed(text) as { error?: unknown; message?: unknown; detail?: unknown } | null | undefined;
  const error = body?.error as { message?: unknown; param?: unknown; code?: unknown } | null | undefined;
  const message = [error?.message, body?.error, body?.message, body?.detail].find((said) => typeof said === 'string');
  const inOpenAiWay = { message: message ?? text, param: error?.param, code: error?.code };
  return new Response(JSON.stringify({ error: inOpenAiWay }), { status, headers });
}

const codeOf = (text: string): string => String((parsed(text) as { error?: { code?: unknown } } | null)?.error?.code);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
