import { setTimeout as delay } from 'node:timers/promises';
import { retryOf } from '../client/index.ts';
import { Refusal } from '../terminal/refusal.ts';
import { Unreachable, Problem } from './refusals.ts';
import type { Schema } from '../../codegen/operations.ts';

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

const admin = 'npm run admin --';
const nextSteps: Record<string, string> = {
  unauthorized: `Pass a valid key in TRANSCRIPTION_API_KEY, or issue one: ${admin} keys issue --help`,
  insufficient_scope: `Issue a key with both scopes: ${admin} keys issue ACCOUNT --scope read --scope write`,
  insufficient_balance: `Add to the balance: ${admin} balance credit ACCOUNT 10h`,
  plan_not_eligible: `Move the account to a plan with access: ${admin} accounts set-plan ACCOUNT pro`,
  account_suspended: `Resume the account: ${admin} accounts resume ACCOUNT`,
};

/**
 * Turns a problem+json answer into a sentence with its code, what to do next, and the request id that support asks for.
 */
export function problemOf(body: unknown, response: Response): Problem {
  const { status } = response;
  if (!isProblem(body)) return new Problem(`${response.url} answered ${status} ${response.statusText}`, status);
  const said = body.detail ?? body.title;
  const fields = (body.errors ?? []).filter(({ message }) => !said.includes(message));
  const requestId = body.requestId ?? response.headers.get('X-Request-Id');
  const lines = [
    `${said} (${body.code})`,
    ...fields.map(({ name, message }) => `  ${name} ${message}`),
    ...(nextSteps[body.code] ? [nextSteps[body.code]] : []),
    ...(requestId ? [`Request ${requestId}`] : []),
  ];
  return new Problem(lines.join('\n'), status, body.code);
}

function isProblem(body: unknown): body is Schema<'Problem'> {
  return typeof body === 'object' && body !== null && 'code' in body && 'title' in body;
}
