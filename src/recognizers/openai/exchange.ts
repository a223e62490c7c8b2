/** One request to a speech server, and its whole answer. */
import { FormData, fetch } from 'undici';
import { noProxies, throughProxies } from '../proxies.ts';
import { RecognizerError } from '../recognizer.ts';
import { Refusal, isOfDisk } from './refusal.ts';
import type { Response } from 'undici';
import type { Proxies } from '../proxies.ts';

export interface SpeechServer {
  /** Up to `/audio/transcriptions`, such as `https://api.openai.com/v1`. */
  baseUrl: string;
  /** Servers of your own often need none. */
  apiKey: string | undefined;
  model: string;
  /** On the way to it. Without them it is asked directly. */
  proxies?: Proxies;
}

/** An answer about ten minutes of audio, with words, times, tokens and probabilities, is smaller than 1 MiB. */
const longestAnswerBytes = 4 * 1024 * 1024;

export type Fields = Readonly<Record<string, string | File | readonly string[]>>;

export interface Asked {
  /** A form that is sent by POST; without it, the server is asked by GET. */
  fields?: Fields;
  signal: AbortSignal;
  traceparent?: string | undefined;
}

export class Exchange {
  /** Whether the last answer came from whisper.cpp's own server. */
  isWhisperCpp = false;
  readonly #base: URL;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #dispatcher;

  /** @throws {ConfigError} the address of a proxy is no address */
  constructor(server: SpeechServer) {
    this.#base = new URL(server.baseUrl);
    this.#headers = { accept: 'application/json', ...keyHeader(server) };
    // Node's own limit of five minutes is too short for a slow server with a queue.
    this.#dispatcher = throughProxies(server.proxies ?? noProxies, { headersTimeout: 0, bodyTimeout: 0 });
  }

  /**
   * Sends the key and the trace, and nothing about this machine. It follows no redirects, so audio goes only to the
   * server and the proxy that were named. It waits until the signal aborts.
   * @throws {Refusal}
   * @throws {RecognizerError} it answered something else than JSON
   * @throws {TypeError} the server could not be reached, or the connection broke
   */
  async ask(path: string, { fields, signal, traceparent }: Asked): Promise<unknown> {
    const request = {
      method: fields === undefined ? 'GET' : 'POST',
      headers: { ...this.#headers, ...(traceparent !== undefined && { traceparent }) },
      body: fields === undefined ? null : formOf(fields),
      redirect: 'manual',
      signal,
      dispatcher: this.#dispatcher,
    } as Parameters<typeof fetch>[1];
    const response = await fetch(this.#addressOf(path), request).catch((error: unknown) => {
      throw isOfDisk(error) ? new Error('the audio could not be read', { cause: error }) : error;
    });
    this.isWhisperCpp = response.headers.get('server') === 'whisper.cpp';
    const text = await textWithin(response, longestAnswerBytes);
    if (response.ok) return readBody(text, response.headers.get('content-type') ?? '', this.#base.host);
    throw new Refusal(response.status, new Headers([...response.headers]), text);
  }

  /** Azure's addresses end in a query, which tells the version of its interface. */
  #addressOf(path: string): URL {
    const address = new URL(this.#base);
    address.pathname = this.#base.pathname.replace(/\/$/, '') + path;
    return address;
  }

  close(): Promise<void> {
    return this.#dispatcher.destroy();
  }
}

/** Lists as OpenAI's own client sends them. */
function formOf(fields: Fields): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string' || value instanceof File) form.append(name, value);
    else for (const each of value) form.append(`${name}[]`, each);
  }
  return form;
}

/** @throws {Error} the text is longer */
async function textWithin(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error('there is no end of the answer');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Some servers want a key and take any. */
const anyKey = 'none';

/** Azure takes a key in a header of its own. Of all servers only its addresses tell the version of their interface. */
function keyHeader({ baseUrl, apiKey = anyKey }: SpeechServer): Record<string, string> {
  const isAzures = new URL(baseUrl).searchParams.has('api-version');
  return isAzures ? { 'api-key': apiKey } : { authorization: `Bearer ${apiKey}` };
}

/**
 * Python's `json` writes these for numbers, and JSON has none of them. What a text between quotation marks holds is
 * left alone. A text without its end goes to the end of all, so that none is looked through twice.
 */
const textOrNoNumber = /"[^"\\]*(?:\\[^][^"\\]*)*"?|-?\b(?:NaN|Infinity)\b/g;

/**
 * Reads the body of an answer, whatever the server calls it. Numbers that are none become null.
 * @param type for the message, as is `host`
 * @throws {RecognizerError} it is no JSON; without quoting it, because it may hold what was said
 */
export function readBody(text: string, type: string, host: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    try {
      return JSON.parse(text.replace(textOrNoNumber, (found) => (found.startsWith('"') ? found : 'null')));
    } catch {
      const message = `${host} answered something else than JSON (${type})`;
      throw new RecognizerError('recognizer_error', message, { retryable: true });
    }
  }
}
