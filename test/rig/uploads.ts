/** Uploads of real clients: they try again with the same Idempotency-Key until they know, and follow what they sent. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Schema } from '../../codegen/operations.ts';
import type { Clip, Clips } from './clips.ts';
import type { Random } from './random.ts';

export interface Server {
  /** Without `/v1`. */
  url: string;
  key: string;
  /** Told why a request has to be sent again. */
  onAgain?: (why: string) => void;
}

export interface Upload {
  /** Its file name without extension, which no other upload has: the title of its session. */
  name: string;
  clip: Clip;
  startsAfterMs: number;
  /** Sent twice at the same time, with the same key. */
  isImpatient: boolean;
  /** Looks again and again, or lets the server hold the answer. */
  follows: 'by polling' | 'by waiting';
}

export interface Outcome {
  upload: Upload;
  /** Of every 202, in the order they came. */
  answers: { sessionId: string; jobId: string; isReplay: boolean }[];
  /** What it was told at the end. */
  final?: { status: 'completed' | 'failed' | 'refused'; segments: number; code: string | undefined };
  /** What no client may meet. */
  faults: string[];
}

interface Answer {
  status: number;
  body: unknown;
  /** Whether it is the answer of an earlier request with the same Idempotency-Key. */
  isReplay: boolean;
}

export const newOutcome = (upload: Upload): Outcome => ({ upload, answers: [], faults: [] });

const requestLimitMs = 20_000;
const againMs = 250;
const pollMs = 500;

/** @param clips one of six is none of speech, where the choice is free */
export function chooseUpload(name: string, random: Random, clips: Clips, startsWithinMs = 0): Upload {
  return {
    name,
    clip: random.oneOf(random.between(1, 6) === 1 ? clips.others : clips.speech),
    startsAfterMs: random.between(0, startsWithinMs),
    isImpatient: random.between(1, 5) === 1,
    follows: random.oneOf(['by polling', 'by waiting'] as const),
  };
}

/** Resolves when the client knows how its session ended, met a fault, or `signal` aborts. */
export async function uploadAndFollow(server: Server, outcome: Outcome, signal: AbortSignal): Promise<void> {
  const { upload, answers, faults } = outcome;
  await sleep(upload.startsAfterMs, undefined, { signal }).catch(() => {});
  const send = () => sendUntilDecided(server, outcome, signal);
  await Promise.all(upload.isImpatient ? [send(), send()] : [send()]);
  const [first] = answers;
  if (first === undefined) return;
  if (answers.some(({ sessionId }) => sessionId !== first.sessionId)) faults.push(`${upload.name} got two ids`);
  await follow(server, outcome, first.sessionId, signal);
}

/** Sends an upload until it is decided what becomes of it. */
export async function sendUntilDecided(server: Server, outcome: Outcome, signal: AbortSignal): Promise<void> {
  const { name, clip } = outcome.upload;
  const body = new FormData();
  body.set('file', new Blob([Uint8Array.from(clip.bytes)], { type: 'audio/wav' }), `${name}.wav`);
  const init = { method: 'POST', body, headers: { 'Idempotency-Key': name } };
  const answer = await untilAnswered(server, '/transcriptions', init, outcome.faults, signal);
  if (answer === undefined) return;
  if (answer.status !== 202) {
    outcome.final = { status: 'refused', segments: 0, code: (answer.body as { code: string }).code };
    return;
  }
  const { sessionId, jobId } = answer.body as { sessionId: string; jobId: string };
  outcome.answers.push({ sessionId, jobId, isReplay: answer.isReplay });
}

async function follow(server: Server, outcome: Outcome, sessionId: string, signal: AbortSignal): Promise<void> {
  const { upload, faults } = outcome;
  const path = `/sessions/${sessionId}/transcript${upload.follows === 'by waiting' ? '?wait=10' : ''}`;
  for (;;) {
    const answer = await untilAnswered(server, path, {}, faults, signal);
    if (answer === undefined) return;
    if (answer.status !== 200) return void faults.push(`${upload.name} got ${answer.status} for session ${sessionId}`);
    const { status, segments, error } = answer.body as Schema<'Transcript'>;
    if (status === 'completed' || status === 'failed') {
      outcome.final = { status, segments: segments.length, code: error?.code };
      return;
    }
    if (upload.follows === 'by polling') await sleep(pollMs, undefined, { signal }).catch(() => {});
  }
}

/** Again after a broken connection, a timeout, a 408, a 429 and every 5xx, of which 500 is a fault. Undefined when `signal` aborted. */
async function untilAnswered(
  server: Server,
  path: string,
  init: RequestInit,
  faults: string[],
  signal: AbortSignal,
): Promise<Answer | undefined> {
  const method = init.method ?? 'GET';
  while (!signal.aborted) {
    try {
      const limits = AbortSignal.any([signal, AbortSignal.timeout(requestLimitMs)]);
      const answer = await ask(server, path, { ...init, signal: limits });
      const { status, body } = answer;
      if (status === 500) faults.push(`${method} ${path} got ${JSON.stringify(body)}`);
      if (status < 500 && ![408, 429].includes(status)) return answer;
      server.onAgain?.(`${method} ${path} got ${status}`);
    } catch (error) {
      // Not known whether it was received: the key makes it safe to send it again.
      server.onAgain?.(`${method} ${path} got no answer: ${String(error)}`);
    }
    await sleep(againMs, undefined, { signal }).catch(() => {});
  }
  return undefined;
}

async function ask({ url, key }: Server, path: string, init: RequestInit): Promise<Answer> {
  const headers = { ...init.headers, Authorization: `Bearer ${key}` };
  const response = await fetch(`${url}/v1${path}`, { ...init, headers });
  const isReplay = response.headers.get('idempotency-replayed') === 'true';
  return { status: response.status, body: await response.json(), isReplay };
}
