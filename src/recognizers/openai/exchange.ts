/** One request to a speech server, and its whole answer. */
import { FormData, fetch } from 'undici';
import { noProxies, throughProxies } from '../proxies.ts';
import { readBody } from './answer-body.ts';
import { ServerHealth } from './server-health.ts';
import { isOfCertificate, isOfDisk } from './reasons.ts';
import { Refusal } from './refusal.ts';
import { keyHeader } from './speech-server.ts';
import type { Response } from 'undici';
import type { SpeechServer } from './speech-server.ts';

/** An answer about ten minutes of audio, with words, times, tokens and probabilities, is smaller than 1 MiB. */
const longestAnswerBytes = 8 * 1024 * 1024;

export type Fields = Readonly<Record<string, string | File | readonly string[]>>;

export interface Asked {
  /** A form that is sent by POST; without it, the server is asked by GET. */
  fields?: Fields;
  signal: AbortSignal;
  traceparent?: string | undefined;
}

/** The answer has no end. */
export class EndlessAnswer extends Error {
  override readonly name = 'EndlessAnswer';
}

export class Exchange {
  /** What its requests tell of whether the server is there. */
  readonly health = new ServerHealth();
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
   * @throws {EndlessAnswer}
   * @throws {RecognizerError} it answered something else than JSON
   * @throws {TypeError} the server could not be reached, or the connection broke
   */
  async ask(path: string, { fields, signal, traceparent }: Asked): Promise<unknown> {
    const method = fields === undefined ? 'GET' : 'POST';
    const headers = { ...this.#headers, ...(traceparent !== undefined && { traceparent }) };
    const request = {
      method,
      headers,
      body: fields === undefined ? null : formOf(fields),
      redirect: 'manual',
      signal,
      dispatcher: this.#dispatcher,
    };
    const response = await fetch(this.#addressOf(path), request as Parameters<typeof fetch>[1]).catch(
      (error: unknown) => {
        if (isOfDisk(error)) throw new Error('the audio could not be read', { cause: error });
        // A job that was stopped says nothing of the server.
        if (!signal.aborted) this.#notReached(method, error);
        throw error;
      },
    );
    this.health.answered(method, response.status);
    this.isWhisperCpp = response.headers.get('server') === 'whisper.cpp';
    const text = await textWithin(response, longestAnswerBytes);
    if (response.ok) return readBody(text, response.headers.get('content-type') ?? '', this.#base.host);
    const refusal = new Refusal(response.status, new Headers([...response.headers]), text);
    if (method === 'POST' && refusal.isOperators) this.health.refused(refusal);
    throw refusal;
  }

  /** Azure's addresses end in a query, which tells the version of its interface. */
  #addressOf(path: string): URL {
    const address = new URL(this.#base);
    address.pathname = this.#base.pathname.replace(/\/$/, '') + path;
    return address;
  }

  #notReached(method: string, error: unknown): void {
    if (method === 'POST' && isOfCertificate(error)) this.health.refused(error);
    else this.health.silent(method, error);
  }

  /** Closes its connections. */
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

/** @throws {EndlessAnswer} the text is longer */
async function textWithin(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new EndlessAnswer('there is no end of the answer');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
