/**
 * A server with OpenAI's `/v1/audio/transcriptions` that hears one sentence in whatever it gets. Judges look at the
 * contract, to which the times of words belong, and the default recognizer tells none.
 */
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

const words = ['Somebody', 'said', 'this.'].map((word, index) => ({ word, start: index / 10, end: (index + 1) / 10 }));
const answer = JSON.stringify({ text: words.map(({ word }) => word).join(' '), language: 'english', words });

/** @returns `url` for OPENAI_BASE_URL */
export async function startSpeechServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    request.resume().once('end', () => response.setHeader('Content-Type', 'application/json').end(answer));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
