/** A client that shows an answer as it came: nothing decompressed, nothing asked for that a test did not say. */
import { get, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { assertConforms } from './contract.ts';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

export interface PlainAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  /** As it came over the wire. */
  bytes: Buffer;
  /** Decompressed. */
  text: string;
}

type Headers = Record<string, string | undefined>;

/** Fails when the answer breaks the contract. */
export async function plainGet(url: string, headers: Headers = {}, method = 'GET'): Promise<PlainAnswer> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url, { method, headers: given(headers), agent: false })
      .once('response', resolve)
      .once('error', reject)
      .end();
  });
  const bytes = await buffer(answer);
  const isCompressed = answer.headers['content-encoding'] === 'gzip' && bytes.length > 0;
  const text = (isCompressed ? gunzipSync(bytes) : bytes).toString();
  const { pathname, search } = new URL(url);
  if (!pathname.startsWith('/docs')) {
    assertConforms({ method, path: pathname + search, status: answer.statusCode!, headers: answer.headers, text });
  }
  return { status: answer.statusCode!, headers: answer.headers, bytes, text };
}

/** An answer of which nothing is read until the caller does; `destroy` it to leave. */
export async function unreadGet(url: string, headers: Headers): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { headers: given(headers), agent: false }, resolve).once('error', reject);
  });
}

const given = (headers: Headers) =>
  Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));
