/** A client that shows an answer as it came: nothing decompressed, nothing asked for that a test did not say. */
import { request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import type { IncomingMessage } from 'node:http';

export type PlainAnswer = Awaited<ReturnType<typeof plainGet>>;

/** @param given those that are undefined are left out */
export async function plainGet(url: string, given: Record<string, string | undefined> = {}, method = 'GET') {
  const headers = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url, { method, headers, agent: false }).once('response', resolve).once('error', reject).end();
  });
  const bytes = await buffer(answer);
  const isCompressed = answer.headers['content-encoding'] === 'gzip' && bytes.length > 0;
  const text = (isCompressed ? gunzipSync(bytes) : bytes).toString();
  // The bytes as they came over the wire, the text decompressed.
  return { status: answer.statusCode!, headers: answer.headers, bytes, text };
}
