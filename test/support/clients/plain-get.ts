/** A client that shows an answer as it came: nothing decompressed, nothing asked for that a test did not say. */
import { request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

export interface PlainAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  /** As it came over the wire. */
  bytes: Buffer;
  /** Decompressed. */
  text: string;
}

/** @param given those that are undefined are left out */
export async function plainGet(
  url: string,
  given: Record<string, string | undefined> = {},
  method = 'GET',
): Promise<PlainAnswer> {
  const headers = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url, { method, headers, agent: false }).once('response', resolve).once('error', reject).end();
  });
  const bytes = await buffer(answer);
  const isCompressed = answer.headers['content-encoding'] === 'gzip' && bytes.length > 0;
  const text = (isCompressed ? gunzipSync(bytes) : bytes).toString();
  return { status: answer.statusCode!, headers: answer.headers, bytes, text };
}
