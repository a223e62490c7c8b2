import { retryOfProblem } from '../../codegen/retries.ts';
import type { Retry } from '../../codegen/retries.ts';
import type { Problem, Schemas } from './types.ts';

const table: Readonly<Record<string, Retry>> = retryOfProblem;

/**
 * What the contract says about repeating a request.
 *
 * @param code of the problem; undefined when it was not the service that answered
 */
export function retryOf(status: number, code: string | undefined, hasRetryAfter: boolean): Retry {
  if (code === undefined)
    return status === 429 ? 'later' : status === 408 || status >= 500 ? 'same_key' : 'change_request';
  return table[code] ?? (hasRetryAfter ? 'later' : 'change_request');
}

/** The service, or what stands before it, refused a request. */
export class RequestFailed extends Error {
  override readonly name = 'RequestFailed';
  readonly status: number;
  /** Undefined when it was not the service that answered, but a proxy. */
  readonly problem: Problem | undefined;
  readonly retry: Retry;
  /** The value of `Retry-After` in ms. */
  readonly retryAfterMs: number | undefined;

  constructor(response: Response, body: unknown) {
    const problem = isProblem(body) ? body : undefined;
    super(problem === undefined ? withoutProblem(response) : (problem.detail ?? problem.title));
    this.status = response.status;
    this.problem = problem;
    this.retryAfterMs = retryAfterMsOf(response.headers.get('Retry-After'));
    this.retry = retryOf(response.status, problem?.code, this.retryAfterMs !== undefined);
  }
}

/** A redirect is not followed: the key and the recording are for the address that was given. */
function withoutProblem({ url, status, headers }: Response): string {
  const elsewhere = headers.get('Location');
  return `${url} answered ${status}${elsewhere === null ? '' : `, and leads to ${elsewhere}: give that address`}`;
}

/** The connection failed, or no answer came in time. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
  readonly retry = 'same_key' satisfies Retry;
}

/** The file that was to be uploaded is gone, is no file, or was changed while it was sent. Nothing was uploaded. */
export class NotReadable extends Error {
  override readonly name = 'NotReadable';
}

/** The session ended without a transcript. Nothing was charged. */
export class SessionFailed extends Error {
  override readonly name = 'SessionFailed';
  readonly sessionId: string;
  readonly code: string;

  constructor(sessionId: string, { code, message }: Schemas['SessionError']) {
    super(message);
    this.sessionId = sessionId;
    this.code = code;
  }
}

/** Seconds, as the service says it, or a date, as a proxy may (RFC 9110, section 10.2.3). */
function retryAfterMsOf(header: string | null): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

const isProblem = (body: unknown): body is Problem =>
  typeof body === 'object' && body !== null && 'code' in body && 'title' in body;
