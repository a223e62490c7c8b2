import { NoAnswer, RequestFailed } from './errors.ts';

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

const tries = 4;
const firstPauseMs = 500;

/**
 * Asks until there is an answer, as the contract says for each code: after `later` however long it takes, after
 * `same_key` some times. `ask` must be safe to repeat.
 *
 * @throws {RequestFailed | NoAnswer} when the service refuses, or still gives no answer after some tries
 * @throws the reason of `signal`
 */
export async function persistently<Data>(ask: () => Promise<Answer<Data>>, asking: Asking = {}): Promise<Data> {
  for (let failures = 0; ;) {
    const outcome = await ask().catch(withoutAnswer);
    asking.signal?.throwIfAborted();
    if ('response' in outcome && outcome.response.ok) return outcome.data as Data;
    const failure = 'response' in outcome ? new RequestFailed(outcome.response, outcome.error) : outcome;
    if (failure.retry !== 'later') failures += 1;
    const mayPass = failure.retry === 'later' || failure.retry === 'same_key';
    if (!mayPass || failures === tries) throw failure;
    const retryAfterMs = failure instanceof RequestFailed ? failure.retryAfterMs : undefined;
    const pauseMs = Math.max(firstPauseMs, retryAfterMs ?? firstPauseMs * 2 ** Math.max(failures - 1, 0));
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
