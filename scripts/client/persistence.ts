import { NoAnswer, RequestFailed } from './errors.ts';
import type { Retry } from '../../codegen/retries.ts';

/** What `openapi-fetch` answers. */
export interface Answer<Data> {
  data?: Data;
  error?: unknown;
  response: Response;
}

export interface Asking {
  signal?: AbortSignal | undefined;
  /** Hears why there is a pause of so many ms. */
  onPause?(this: void, why: RequestFailed | NoAnswer, ms: number): void;
}

/** How long what may have been done is repeated: a service that is started again is away for up to half a minute. */
const patienceMs = 120_000;
const [firstPauseMs, longestPauseMs] = [1_000, 30_000];

/** The pauses between the tries of one request, as the contract says under "How long to repeat". */
export class Patience {
  #tries = 0;
  #waitedMs = 0;

  /** @returns for how many ms to wait now; undefined when it is time to give up */
  pauseMs(retry: Retry, retryAfterMs?: number): number | undefined {
    if (retry !== 'later' && retry !== 'same_key') return undefined;
    const usual = Math.min(firstPauseMs * 2 ** this.#tries++, longestPauseMs) * (1 + Math.random() / 4);
    const ms = Math.max(retryAfterMs ?? usual, firstPauseMs);
    if (retry === 'same_key') this.#waitedMs += ms;
    return this.#waitedMs > patienceMs ? undefined : ms;
  }
}

/**
 * Asks until there is an answer, as the contract says for each code: after `later` however long it takes, after
 * `same_key` for two minutes. `ask` must be safe to repeat.
 *
 * @throws {RequestFailed | NoAnswer} when the service refuses, or still gives no answer after two minutes
 * @throws the reason of `signal`
 */
export async function persistently<Data>(ask: () => Promise<Answer<Data>>, asking: Asking = {}): Promise<Data> {
  const patience = new Patience();
  for (;;) {
    const outcome = await ask().catch(withoutAnswer);
    asking.signal?.throwIfAborted();
    if ('response' in outcome && outcome.response.ok) return outcome.data as Data;
    const failure = 'response' in outcome ? new RequestFailed(outcome.response, outcome.error) : outcome;
    const pauseMs = patience.pauseMs(
      failure.retry,
      failure instanceof RequestFailed ? failure.retryAfterMs : undefined,
    );
    if (pauseMs === undefined) throw failure;
    asking.onPause?.(failure, pauseMs);
    await pause(pauseMs, asking.signal);
  }
}

/** `fetch` rejects with a TypeError when the connection fails, and with a DOMException when the time is over. */
function withoutAnswer(error: unknown): NoAnswer {
  const isLost = error instanceof TypeError || error instanceof DOMException || error instanceof SyntaxError;
  if (!isLost) throw error;
  return new NoAnswer('The service gave no answer.', { cause: error });
}

/** @throws the reason of `signal` */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const over = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', over);
      resolve();
    };
    const timer = setTimeout(over, ms);
    signal?.addEventListener('abort', over);
  });
  signal?.throwIfAborted();
}
