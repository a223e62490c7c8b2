/**
 * Lets no answer leave the service that breaks the contract, whatever client asks: in its place goes a 500, and the log says
 * why. One that is sent in pieces fails the test, or ends the process. A process of its own loads this by `--import`.
 */
import { subscribe } from 'node:diagnostics_channel';
import { gunzipSync } from 'node:zlib';
import { assertConforms } from './contract.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** In bytes. Longer bodies, which a few tests send, would take seconds to check. */
const mostChecked = 4 * 1024 * 1024;

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse & { app?: unknown };
}

subscribe('http.server.request.start', (message) => {
  const { request, response } = message as Exchange;
  const write = response.write as (...given: unknown[]) => boolean;
  const end = response.end as (...given: unknown[]) => ServerResponse;
  const chunks: Buffer[] = [];
  const gather = (chunk: unknown) => {
    if (typeof chunk === 'string' || chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk as string));
  };
  response.write = ((chunk: unknown, ...others: unknown[]) => {
    gather(chunk);
    // A refusal, whose connection is ended in place of the answer.
    if (response.getHeader('connection') === 'close') check(request, response, chunks);
    return write.call(response, chunk, ...others);
  }) as ServerResponse['write'];
  response.end = ((chunk: unknown, ...others: unknown[]) => {
    gather(chunk);
    // A problem may take its place.
    check(request, response, chunks.splice(0));
    return end.call(response, chunk, ...others);
  }) as ServerResponse['end'];
});

function check(request: IncomingMessage, response: Exchange['response'], chunks: readonly Buffer[]): void {
  const { method = '', url = '' } = request;
  // A target may be a whole address.
  const path = url.replace(/^http:\/\/[^/]+/, '');
  const type = String(response.getHeader('content-type'));
  const isDocs = /^\/($|docs|llms)/.test(path) && type !== 'application/problem+json';
  const isPreflight = method === 'OPTIONS' && response.statusCode === 204;
  // Other servers of this process are none of express.
  if (response.app === undefined || isDocs || isPreflight) return;
  const bytes = Buffer.concat(chunks);
  if (bytes.length > mostChecked) return;
  const isPacked = response.getHeader('content-encoding') === 'gzip' && bytes.length > 0;
  assertConforms({
    ...{ method, path, status: response.statusCode },
    headers: Object.fromEntries(Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)])),
    text: method === 'HEAD' ? '' : (isPacked ? gunzipSync(bytes) : bytes).toString(),
  });
}
