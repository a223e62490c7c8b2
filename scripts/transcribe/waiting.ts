/** Waits for the transcript of a session. */
import { setTimeout as delay } from 'node:timers/promises';
import { askPersistently } from './persistence.ts';
import { Refusal } from '../terminal/refusal.ts';
import { SessionFailed, Unfinished } from './refusals.ts';
import type { Schema } from '../../codegen/operations.ts';
import type { ApiClient } from '../terminal/api-client.ts';
import type { Asking } from './persistence.ts';

const firstLookMs = 500;
const slowestLookMs = 5_000;

export interface Waiting extends Asking {
  /** Asks for the words, too. */
  words?: boolean;
  /** How many sessions are waited for at once: as many times slower each is looked at, for the allowance. */
  together?: number;
  onPercent(percent: number): void;
}

/**
 * The transcript of a session, once it is completed.
 * @throws {SessionFailed}
 * @throws {Unfinished} when the service can't be reached or refuses, or `signal` aborts; the session goes on
 */
export async function awaitTranscript(
  client: ApiClient,
  sessionId: string,
  waiting: Waiting,
): Promise<Schema<'Transcript'>> {
  const over = new AbortController();
  const looking = showProgress(client, sessionId, waiting, over.signal);
  try {
    return await finalTranscript(client, sessionId, waiting);
  } catch (error) {
    if (waiting.signal?.aborted) throw new Unfinished(sessionId);
    if (error instanceof Refusal && !(error instanceof SessionFailed)) throw new Unfinished(sessionId, error);
    throw error;
  } finally {
    over.abort();
    await looking;
  }
}

async function finalTranscript(
  client: ApiClient,
  sessionId: string,
  { words, onPause, signal }: Waiting,
): Promise<Schema<'Transcript'>> {
  const query = { wait: 30, ...(words === true && { include: 'words' as const }) };
  const look = () =>
    client.GET('/sessions/{id}/transcript', {
      params: { path: { id: sessionId }, query },
      headers: { Accept: 'application/json' },
      ...(signal && { signal }),
    });
  for (;;) {
    const transcript = (await askPersistently(look, { onPause, signal })) as Schema<'Transcript'>;
    if (transcript.status === 'completed') return transcript;
    if (transcript.status === 'failed') throw failureOf(transcript);
    // A service that stops answers waiting clients at once, so there is a pause before the next request.
    await delay(firstLookMs, undefined, { signal });
  }
}

function failureOf({ sessionId, error }: Schema<'Transcript'>): SessionFailed {
  const { message, code } = error ?? { message: 'The transcription failed', code: 'unknown' };
  return new SessionFailed(`${message} (${code})\nSession ${sessionId}. Nothing was charged.`);
}

/** Shows progress. It asks less and less often, so that a long recording doesn't use up the allowance. Errors are ignored. */
async function showProgress(
  client: ApiClient,
  sessionId: string,
  { onPercent, together = 1 }: Waiting,
  signal: AbortSignal,
): Promise<void> {
  const slowest = slowestLookMs * together;
  for (let pauseMs = firstLookMs * together; !signal.aborted; pauseMs = Math.min(pauseMs * 1.5, slowest)) {
    try {
      await delay(pauseMs, undefined, { signal });
      const { data } = await client.GET('/sessions/{id}', { params: { path: { id: sessionId } }, signal });
      if (data?.progress !== undefined) onPercent(data.progress);
    } catch {
      continue;
    }
  }
}
