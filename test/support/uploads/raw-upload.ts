/** A client that sends an upload as bytes, as fast or slowly as a test wants, and counts what it could send. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { assertConforms } from '../clients/contract.ts';
import { parseAnswers } from '../clients/raw-http.ts';
import { formType } from './uploads.ts';
import type { Socket } from 'node:net';
import type { RawAnswer } from '../clients/raw-http.ts';

export class RawUpload {
  readonly socket: Socket;
  /** Every byte that the server sent. */
  received = '';
  /** The server closed its half, or everything. */
  readonly ended: Promise<unknown>;
  readonly closed: Promise<unknown>;
  #hasEnded = false;

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    this.socket.on('error', () => undefined);
    this.socket.setEncoding('utf8').on('data', (chunk) => (this.received += String(chunk)));
    this.closed = new Promise((resolve) => this.socket.once('close', resolve));
    this.ended = Promise.race([new Promise((resolve) => this.socket.once('end', resolve)), this.closed]);
    void this.ended.then(() => (this.#hasEnded = true));
  }

  head(headers: Record<string, string | number>, path = '/v1/transcriptions'): this {
    const lines = Object.entries({ Host: 'localhost', 'Content-Type': formType, ...headers });
    this.socket.write(`POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`);
    return this;
  }

  send(bytes: string | Buffer): this {
    this.socket.write(bytes);
    return this;
  }

  sendChunk(bytes: Buffer): this {
    return this.send(`${bytes.length.toString(16)}\r\n`)
      .send(bytes)
      .send('\r\n');
  }

  /** Resolves when the server sent this. */
  async until(pattern: RegExp): Promise<this> {
    while (!pattern.test(this.received)) {
      if (this.#hasEnded) throw new Error(`the connection ended after ${JSON.stringify(this.received)}`);
      await Promise.race([once(this.socket, 'data').catch(() => undefined), this.ended]);
    }
    return this;
  }

  /** The answer, complete; fails when it breaks the contract. */
  async answer(): Promise<RawAnswer> {
    await this.until(/^HTTP\/1\.1 [2-5][^]*\r\n\r\n[^]*\}$/m);
    const answer = parseAnswers(this.received).at(-1)!;
    assertConforms({ method: 'POST', path: '/v1/transcriptions', ...answer });
    return answer;
  }

  /** Sends for as long as the server takes it, whatever it answers. Resolves with the bytes it took. */
  async flood(chunk: Buffer, maxBytes: number): Promise<number> {
    let sent = 0;
    while (sent < maxBytes && this.socket.writable) {
      const written = this.socket.write(chunk);
      sent += chunk.length;
      if (!written) await Promise.race([once(this.socket, 'drain').catch(() => undefined), this.closed]);
    }
    return sent;
  }
}
