import { setTimeout as delay } from 'node:timers/promises';
import { Refusal } from '../terminal/refusal.ts';
import { refusalOf } from './problem.ts';

interface Answer<Data> {
  data?: Data;
  error?: unknown;
  response: Response;
}

const tries = 4;
const firstPauseMs = 500;
/** After these statuses another try may succeed, and `Retry-After` says when. */
const passingStatuses = [429, 503];

/**
 * Asks until there is an answer. It waits while the connection is lost, the service restarts or the allowance is used
 * up. `ask` must be safe to repeat.
 * @param onPause hears why there is a pause, and for how long
 * @throws {Refusal} when the service refuses, or still can't be reached after some tries
 */
export async function askPersistently<Data>(
  ask: () => Promise<Answer<Data>>,
  onPause: (message: string) => void,
): Promise<Data> {
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await ask().catch(withoutAnswer);
    if ('response' in outcome && outcome.response.ok) return outcome.data as Data;
    const refusal = 'response' in outcome ? refusalOf(outcome.error, outcome.response) : outcome;
    const mayPass = !('response' in outcome) || passingStatuses.includes(outcome.response.status);
    if (!mayPass || attempt === tries) throw refusal;
    const pauseMs = retryAfterMs(outcome) ?? firstPauseMs * 2 ** (attempt - 1);
    onPause(`${refusal.message.split('\n')[0]}; trying again in ${pauseMs / 1000} s`);
    await delay(pauseMs);
  }
}

/** `fetch` rejects with a TypeError when the connection fails, and JSON.parse with a SyntaxError. */
function withoutAnswer(error: unknown): Refusal {
  if (error instanceof SyntaxError) return new Refusal('What answers there is not this service. Check --url.');
  if (!(error instanceof TypeError)) throw error;
  const { code, message } = (error.cause ?? error) as NodeJS.ErrnoException;
  const hint = code === 'ECONNREFUSED' ? '. Is the service running? Start it: npm start' : '';
  return new Refusal(`No connection to the service (${code ?? message})${hint}`);
}

function retryAfterMs(outcome: Refusal | Answer<unknown>): number | undefined {
  if (!('response' in outcome)) return undefined;
  const seconds = Number(outcome.response.headers.get('Retry-After') ?? NaN);
  return Number.isFinite(seconds) ? Math.max(seconds * 1000, firstPauseMs) : undefined;
}
