/** A client that is as fast as the socket: its form is in memory before the clock starts. */
import { readFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { IncomingMessage } from 'node:http';

const boundary = 'a-boundary-of-the-bench';

export interface Form {
  readonly headers: Record<string, string | number>;
  readonly pieces: readonly Buffer[];
  readonly fileBytes: number;
}

/** The form of an ordinary client, with one file. */
export async function formOf(path: string): Promise<Form> {
  const content = await readFile(path);
  const head = [
    `--${boundary}`,
    `Content-Disposition: form-data; name="file"; filename="${path.split('/').at(-1)}"`,
    'Content-Type: application/octet-stream',
    '\r\n',
  ];
  const pieces = [Buffer.from(head.join('\r\n')), content, Buffer.from(`\r\n--${boundary}--\r\n`)];
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const headers = { 'Content-Type': `multipart/form-data; boundary=${boundary}`, 'Content-Length': length };
  return { headers, pieces, fileBytes: content.length };
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
    for (const piece of form.pieces) sending.write(piece);
    sending.end();
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
