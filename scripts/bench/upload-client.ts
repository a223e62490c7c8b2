/** A client that is as fast as the socket: its form is in memory before the clock starts. */
import { openAsBlob } from 'node:fs';
import { Agent, request } from 'node:http';
import { basename } from 'node:path';
import { text } from 'node:stream/consumers';
import type { IncomingMessage } from 'node:http';

export interface Form {
  readonly headers: Record<string, string | number>;
  readonly body: Buffer;
  readonly fileBytes: number;
}

/** The form of an ordinary client, with one file. */
export async function formOf(path: string): Promise<Form> {
  const file = await openAsBlob(path);
  const form = new FormData();
  form.set('file', file, basename(path));
  const encoded = new Response(form);
  const body = Buffer.from(await encoded.arrayBuffer());
  const headers = { 'Content-Type': encoded.headers.get('content-type')!, 'Content-Length': body.length };
  return { headers, body, fileBytes: file.size };
}

const agent = new Agent({ keepAlive: true });

/**
 * @returns ms from the first byte to the answer
 * @throws when the answer is not 202
 */
export async function upload(url: string, headers: Record<string, string>, form: Form): Promise<number> {
  const began = performance.now();
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const sending = request(url, { method: 'POST', headers: { ...form.headers, ...headers }, agent });
    sending.once('response', resolve).once('error', reject);
    sending.end(form.body);
  });
  const body = await text(answer);
  if (answer.statusCode !== 202) throw new Error(`${url} answered ${answer.statusCode}: ${body}`);
  return performance.now() - began;
}

/** Several clients, each one upload after another. @returns uploads per second */
export async function uploadsPerSecond(
  clients: number,
  uploads: number,
  send: (index: number) => Promise<number>,
): Promise<number> {
  const began = performance.now();
  let next = 0;
  const client = async () => {
    while (next < uploads) await send(next++);
  };
  await Promise.all(Array.from({ length: clients }, client));
  return (uploads * 1000) / (performance.now() - began);
}
