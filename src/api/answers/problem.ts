/** Errors as the API answers them: RFC 9457, with a `code` that never changes, for programs. */
import { STATUS_CODES } from 'node:http';
import { isDatabaseFault } from '../../../db/connection/database-errors.ts';
import { CommitOutcomeUnknown } from '../../../db/connection/transaction.ts';
import { AudioToolError } from '../../audio/audio-error.ts';
import { AudioStoreUnavailable } from '../../files/audio-store.ts';
import type { Schema } from '../../../codegen/operations.ts';
import type { ProblemCode } from '../../../codegen/retries.ts';

export type Problem = Schema<'Problem'>;
type Details = Omit<Problem, 'type' | 'title' | 'status' | 'code' | 'detail' | 'requestId'>;

/** An answer that handlers and checks throw. `detail` is for people and is sent unchanged. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: ProblemCode;
  readonly details: Details;
  readonly headers: Record<string, string>;

  constructor(
    status: number,
    code: ProblemCode,
    detail: string,
    details: Details = {},
    headers: Record<string, string> = {},
  ) {
    super(detail);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.details = details;
    this.headers =
      details.retryAfterSeconds === undefined
        ? headers
        : { ...headers, 'Retry-After': String(details.retryAfterSeconds) };
  }
}

/**
 * The contract lists the places in prose, not as an enum: some generators can't compile an enum of a field that is
 * called `in`.
 */
export type InvalidField = Schema<'InvalidField'> & { in: keyof typeof places };

/** @param found fields with the names that the client sent */
export function invalidRequest(...found: [InvalidField, ...InvalidField[]]): ApiError {
  const errors = found.map((error) => ({ ...error, name: printable(error.name) }));
  const detail = errors.map((error) => `The ${places[error.in]} "${error.name}" ${error.message}.`).join(' ');
  return new ApiError(400, 'invalid_request', detail, { errors });
}

/**
 * Makes a client's text harmless for terminals and logs: without control characters, also those that turn the direction
 * of text.
 */
function printable(name: string): string {
  return name
    .slice(0, 100)
    .toWellFormed()
    .replace(/[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, '\ufffd');
}

const places = { path: 'path parameter', query: 'query parameter', header: 'header', body: 'form field' };

const diskFullRetrySeconds = 60;

export const diskIsFull = (): ApiError =>
  unavailable('There is no room for this upload now. Try again later.', diskFullRetrySeconds);

const isDiskFull = (error: unknown): boolean =>
  Error.isError(error) && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');

export function unavailable(detail: string, retryAfterSeconds = 5): ApiError {
  return new ApiError(503, 'unavailable', detail, { retryAfterSeconds });
}

/** The answer to any error. For a fault it says nothing from inside; the caller logs the cause. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof AudioStoreUnavailable)
    return unavailable('The service can not store audio now. Try again shortly.');
  if (error instanceof CommitOutcomeUnknown || isDatabaseFault(error)) {
    return unavailable('The service can not reach its database. Try again shortly.');
  }
  if (isDiskFull(error)) return diskIsFull();
  if (error instanceof AudioToolError) return unavailable('The service can not read media now. Try again shortly.');
  return new ApiError(500, 'internal_error', 'The service failed to answer. Quote the requestId to support.');
}

export function toProblem(error: ApiError, requestId: string): Problem {
  return {
    type: 'about:blank',
    title: titles.get(error.status) ?? STATUS_CODES[error.status] ?? 'Error',
    status: error.status,
    code: error.code,
    detail: error.message,
    requestId,
    ...error.details,
  };
}

// Node still has the phrases of RFC 7231 for these; RFC 9110 renamed them.
const titles = new Map([
  [413, 'Content Too Large'],
  [422, 'Unprocessable Content'],
]);

/** Another account's session, a deleted session and an unknown one get the same answer. */
export function sessionNotFound(): ApiError {
  return new ApiError(404, 'session_not_found', 'There is no session with this id.');
}
