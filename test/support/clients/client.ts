/** A client of a process of the service: what it sees, and whether it keeps to the contract. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { until } from '../until.ts';
import { assertConforms } from './contract.ts';

export interface Seen {
  status: number;
  headers: Record<string, string>;
  text: string;
  /** The problem's code, if it is one. */
  code: string | undefined;
}

/** The session that an answer names; fails where the upload was not accepted. */
export function sessionIn({ status, text }: Pick<Seen, 'status' | 'text'>): string {
  expect(status).toBe(202);
  return (JSON.parse(text) as { sessionId: string }).sessionId;
}

/** @param url of the service, which may change when it starts again */
export function clientOf(url: string | (() => string), key: string) {
  const ask = async (method: string, path: string, init: RequestInit = {}): Promise<Seen> => {
    const headers = { Authorization: `Bearer ${key}`, ...(init.headers as Record<string, string>) };
    const base = typeof url === 'string' ? url : url();
    const answer = await fetch(`${base}${path}`, { ...init, method, headers });
    const seen = { status: answer.status, headers: Object.fromEntries(answer.headers), text: await answer.text() };
    assertConforms({ method, path, ...seen });
    const isProblem = seen.headers['content-type'] === 'application/problem+json';
    const code = isProblem ? (JSON.parse(seen.text) as { code: string }).code : undefined;
    return { ...seen, code };
  };
  const upload = async (file: string, idempotencyKey?: string): Promise<Seen> => {
    const body = new FormData();
    body.set('file', new Blob([new Uint8Array(await readFile(file))]), basename(file));
    const headers = idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey };
    return ask('POST', '/v1/transcriptions', { body, headers });
  };
  return {
    get: (path: string) => ask('GET', path),
    upload,
    /** Uploads what is accepted. @returns the session's id */
    accepted: async (file: string, idempotencyKey?: string) => sessionIn(await upload(file, idempotencyKey)),
    /** Asks as clients do until the session is final. */
    async final(sessionId: string) {
      const isFinal = ({ status, text }: Seen) =>
        status === 200 && /^(completed|failed)$/.test((JSON.parse(text) as { status: string }).status);
      const { text } = await until(() => ask('GET', `/v1/sessions/${sessionId}/transcript?wait=5`), isFinal);
      return JSON.parse(text) as { status: string; error?: { code: string } };
    },
  };
}
