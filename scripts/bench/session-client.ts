/** A client of the service: uploads a short clip and waits for its transcript. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Setting } from './bench.ts';

export interface Client {
  url: string;
  /** An API key with both scopes. */
  key: string;
  audio: Blob;
  /** Ends what is going on. */
  signal?: AbortSignal;
}

/** A second and a half of a human voice, or of a tone where Debian's samples are not installed. */
export async function makeSpeech({ folder }: Setting): Promise<Blob> {
  const voice = '/usr/share/pocketsphinx/test/data/librivox/sense_and_sensibility_01_austen_64kb-0880.wav';
  const path = join(folder, 'clip.wav');
  const cut = (...input: string[]) =>
    promisify(execFile)('ffmpeg', ['-v', 'error', '-nostdin', ...input, '-t', '1.5', '-ar', '16000', '-ac', '1', path]);
  await cut('-i', voice).catch(() => cut('-f', 'lavfi', '-i', 'sine'));
  return new Blob([await readFile(path)]);
}

/** Uploads the audio. @returns when the 202 came, by `performance.now()` */
export async function send({ url, key, audio, signal }: Client): Promise<{ id: string; acceptedAt: number }> {
  const body = new FormData();
  body.set('file', audio, 'clip.wav');
  const headers = { Authorization: `Bearer ${key}` };
  const response = await fetch(`${url}/v1/transcriptions`, { method: 'POST', headers, body, signal: signal ?? null });
  const acceptedAt = performance.now();
  if (response.status !== 202) throw new Error(`an upload was answered ${response.status}`);
  return { id: ((await response.json()) as { sessionId: string }).sessionId, acceptedAt };
}

/** Asks with `wait` until the session is final. @returns when the answer came, by `performance.now()` */
export async function untilAnswered({ url, key, signal }: Client, id: string): Promise<number> {
  const headers = { Authorization: `Bearer ${key}` };
  for (;;) {
    const response = await fetch(`${url}/v1/sessions/${id}/transcript?wait=30`, { headers, signal: signal ?? null });
    const { status } = (await response.json()) as { status: string };
    const answeredAt = performance.now();
    if (status === 'completed') return answeredAt;
    if (status !== 'queued' && status !== 'processing') throw new Error(`a session is ${status}`);
  }
}
