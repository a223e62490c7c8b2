import { setTimeout as delay } from 'node:timers/promises';
import { retryOf } from '../client/index.ts';
import { problemOf } from './problem.ts';
import { Refusal } from '../terminal/refusal.ts';
import { Unreachable } from './refusals.ts';

interface Answer<Data> {
  data?: Data;
  error?: unknown;
  response: Response;
}

export interface Asking {
  /** Hears why there is a pause of so many ms. */
  onPause(this: void, why: string, ms: number): void;
  signal?: AbortSignal | undefined;
}

const tries = 4;
const firstPauseMs = 500;

/**
 * Asks until there is an answer, as the contract's table says: some times while the connection is lost or the service
 * restarts, and, however long that takes, while the allowance is used up or too many recordings are queued. `ask` must
 * be safe to repeat.
 * @throws {Problem | Unreachable} when the service refuses, or still can't be reached after some tries
 * @throws {Refusal} that the body of an upload fails with
 * @throws the reason of `signal`
 */
export async function askPersistently<Data>(
  ask: () => Promise<Answer<Data>>,
  { onPause, signal }: Asking,
): Promise<Data> {
  for (let failures = 0; ;) {
    const outcome = await ask().catch(withoutAnswer);
    signal?.throwIfAborted();
    if ('response' in outcome && outcome.response.ok) return outcome.data as Data;
    const refusal = 'response' in outcome ? problemOf(outcome.error, outcome.response) : outcome;
    const retryAfter = retryAfterMs(outcome);
    const retry = 'status' in refusal ? retryOf(refusal.status, refusal.code, retryAfter !== undefined) : 'same_key';
    if (retry !== 'later') failures += 1;
    if ((retry !== 'later' && retry !== 'same_key') || failures === tries) throw refusal;
    const pauseMs = retryAfter ?? firstPauseMs * 2 ** Math.max(failures - 1, 0);
    onPause(refusal.message.split('\n')[0]!, pauseMs);
    await delay(pauseMs, undefined, { signal });
  }
}

/** `fetch` rejects with a TypeError when the connection fails, and JSON.parse with a SyntaxError. */
function withoutAnswer(error: unknown): Unreachable {
  if (error instanceof SyntaxError) return new Unreachable('What answers there is not this service. Check --url.');
  if (!(error instanceof TypeError)) throw error;
  // What the body of an upload failed with.
  if (error.cause instanceof Refusal) throw error.cause;
  const { code, message } = (error.cause ?? error) as NodeJS.ErrnoException;
  const hint = code === 'ECONNREFUSED' ? '. Is the service running? Start it: npm start' : '';
  return new Unreachable(`No connection to the service (${code ?? message})${hint}`);
}

function retryAfterMs(outcome: Unreachable | Answer<unknown>): number | undefined {
  if (!('response' in outcome)) return undefined;
  const seconds = Number(outcome.response.headers.get('Retry-After') ?? NaN);
  return Number.isFinite(seconds) ? Math.max(seconds * 1000, firstPauseMs) : undefined;
}
