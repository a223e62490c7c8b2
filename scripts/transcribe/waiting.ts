/** Waits for the transcript of a session. */
import { setTimeout as delay } from 'node:timers/promises';
import { Unfinished, isOutside } from './refusals.ts';
import type { Asking, Transcript, TranscriptionClient } from '../client/index.ts';

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
  client: TranscriptionClient,
  sessionId: string,
  waiting: Waiting,
): Promise<Transcript> {
  const over = new AbortController();
  const looking = showProgress(client, sessionId, waiting, over.signal);
  try {
    return await client.wait(sessionId, waiting);
  } catch (error) {
    throw unfinished(error, sessionId, waiting);
  } finally {
    over.abort();
    await looking;
  }
}

/** What to throw for an error while an accepted session is asked about. */
export function unfinished(error: unknown, sessionId: string, { signal }: Asking): unknown {
  if (signal?.aborted) return new Unfinished(sessionId);
  return isOutside(error) ? new Unfinished(sessionId, error) : error;
}

/** Shows progress. It asks less and less often, so that a long recording doesn't use up the allowance. Errors are ignored. */
async function showProgress(
  client: TranscriptionClient,
  sessionId: string,
  { onPercent, together = 1 }: Waiting,
  signal: AbortSignal,
): Promise<void> {
  const slowest = slowestLookMs * together;
  for (let pauseMs = firstLookMs * together; !signal.aborted; pauseMs = Math.min(pauseMs * 1.5, slowest)) {
    try {
      await delay(pauseMs, undefined, { signal });
      const { data } = await client.api.GET('/sessions/{id}', { params: { path: { id: sessionId } }, signal });
      if (data?.progress !== undefined) onPercent(data.progress);
    } catch {
      continue;
    }
  }
}
