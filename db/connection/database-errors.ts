/** What the errors of the database mean. */
import pg from 'pg';

const unavailableStates = /^(08|53|57P0|57014|55P03|25P0[34]|25006)/;
const unavailableCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EHOSTUNREACH',
  'EAI_AGAIN',
]);
const unavailableMessages =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Query read timeout|timeout expired|not queryable|Cannot use a pool after/;

/** Whether an error says that the database can not be reached or can not take more now, rather than that a query is wrong. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!Error.isError(error)) return false;
  if ('errors' in error && Array.isArray(error.errors)) return error.errors.some(isDatabaseUnavailable);
  const code = 'code' in error ? String(error.code) : '';
  const isAway = unavailableStates.test(code) || unavailableCodes.has(code) || unavailableMessages.test(error.message);
  return isAway || isDatabaseUnavailable(error.cause);
}

/**
 * What PostgreSQL says of itself rather than of a statement: who may connect and to what, locks and conflicts, connections
 * and transactions that it ended, faults inside of it, permissions (PostgreSQL, appendix A, Error Codes).
 */
const statesOfDatabase = /^(08|25|26|28|3D|40|42501|53|55|57|58|F0|XX)/;

/**
 * Whether an error is the database's own, or of the way to it: what was asked is not at fault, and may succeed when it is
 * asked again later.
 */
export function isDatabaseFault(error: unknown): boolean {
  if (!Error.isError(error)) return false;
  const isOfDatabase = error instanceof pg.DatabaseError && statesOfDatabase.test(error.code ?? '');
  return isOfDatabase || isDatabaseUnavailable(error) || isDatabaseFault(error.cause);
}

/** SQLSTATE of a write that a read-only server refused. The write certainly had no effect. */
export const readOnly = '25006';
/** SQLSTATE of a server that ends the connection, or is about to. */
export const isEnding = (code: unknown): boolean => /^57P0[1-5]$/.test(String(code));

/** Whether a statement was refused because its server was demoted. It may run again elsewhere, whatever it writes. */
export const isRefusedWrite = (error: unknown): boolean => codeOf(error) === readOnly;

/**
 * Whether the error says that the connection leads to a server that was demoted or ends. Another connection may lead to
 * another server.
 */
export const isServerLost = (error: unknown): boolean => isRefusedWrite(error) || isEnding(codeOf(error));

/** The same, or that the connection ended under a statement that had not begun yet, for all that is known. */
export const isConnectionLost = (error: unknown): boolean =>
  isServerLost(error) || (Error.isError(error) && /^Connection terminated|not queryable/.test(error.message));

const codeOf = (error: unknown) => (Error.isError(error) && 'code' in error ? error.code : undefined);

/** Whether PostgreSQL itself answered with an error, so that the statement certainly had no effect. */
export function isRefusedByServer(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !/^(08|57P0)/.test(error.code ?? '');
}

/** Whether PostgreSQL refuses this login, or denies it every use of the database. */
export const isRefusedLogin = (error: unknown): error is Error =>
  error instanceof pg.DatabaseError && /^(28|3D|42501)/.test(error.code ?? '');

/** Whether PgBouncer refused what a connection asked for at its start, as it does for limits of time. */
export function isRefusedByPooler(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '08P01' && /startup parameter/.test(error.message);
}

/** The database can not be used as it is. The message says what to do: a stack would only hide it. */
export class DatabaseUnsupported extends Error {
  override readonly name = 'DatabaseUnsupported';
}

/** Whether an error is an answer, of the server or of a pooler. What failed may have had an effect: see {@link isRefusedByServer}. */
export const isDatabaseError = (error: unknown): error is pg.DatabaseError => error instanceof pg.DatabaseError;
