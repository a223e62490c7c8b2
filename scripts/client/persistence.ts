import { NoAnswer, NotReadable, RequestFailed } from './errors.ts';
import type { Retry } from '../../codegen/retries.ts';

/** What `openapi-fetch` answers. */
export interface Answer<Data> {
  data?: Data;
  error?: unknown;
  response: Response;
}

export interface Asking {
  signal?: AbortSignal | undefined;
  /** Called before each pause, with its reason and length. */
  onPause?(this: void, why: RequestFailed | NoAnswer, ms: number): void;
}

/**
 * How long a request is repeated before the caller gets the error. A service that is started again is away for up to half a minute. What
 * still says `later` after two hours is for a person to decide, and so is a `Retry-After` that is longer.
 */
const patienceMs = { same_key: 120_000, later: 7_200_000 };
const [firstPauseMs, longestPauseMs] = [1_000, 30_000];

/** The pauses between the tries of one request, as the contract says under "How long to repeat". */
export class Patience {
  #tries = 0;
  readonly #waitedMs = { same_key: 0, later: 0 };

  /** @returns for how many ms to wait now; undefined when it is time to give up */
  pauseMs(retry: Retry, retryAfterMs?: number): number | undefined {
    if (retry !== 'later' && retry !== 'same_key') return undefined;
    const usual = Math.min(firstPauseMs * 2 ** this.#tries++, longestPauseMs) * (1 + Math.random() / 4);
    const ms = Math.max(retryAfterMs ?? usual, firstPauseMs);
    this.#waitedMs[retry] += ms;
    return this.#waitedMs[retry] > patienceMs[retry] ? undefined : ms;
  }
}

/**
 * Asks until there is an answer, as the contract says for each code: after `later` for two hours, after `same_key` for
 * two minutes. `ask` must be safe to repeat.
 *
 * @throws {RequestFailed | NoAnswer} when the service refuses, or still has no answer after that time
 * @throws {NotReadable} when the file of an upload can't be read
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
  if ((error.cause as Error | undefined)?.name === 'NotReadableError')
    throw new NotReadable('The file is gone, is no file, or was changed while it was sent.', { cause: error.cause });
  return new NoAnswer('The service gave no answer.', { cause: error });
}

/** @throws the reason of `signal` */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
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
