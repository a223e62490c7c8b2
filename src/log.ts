import { pino, stdSerializers } from 'pino';
import type { DestinationStream, Logger } from 'pino';
import type { Config } from './config.ts';

export type Log = Logger;

/**
 * One JSON line per event. Logs name accounts, sessions and requests by their ids; keys, transcripts, file names and the
 * values of queries never get here, and of a database error only what can not quote a row.
 */
export function createLog(config: Pick<Config, 'logLevel'>, destination?: DestinationStream): Log {
  const options = { level: config.logLevel, base: { pid: process.pid }, serializers: { err: withoutRows } };
  return pino(options, destination ?? buffered());
}

/**
 * Written a page at a time, or after 100 ms: a write for each request takes 5 % of its processor time. What is left goes out
 * when the process ends; only a SIGKILL loses it.
 */
const buffered = () => pino.destination({ minLength: 4096, periodicFlush: 100, sync: false });

function withoutRows(error: unknown): unknown {
  if (!Error.isError(error)) return error;
  const { type, message, stack, code, constraint } = stdSerializers.err(error) as Record<string, unknown>;
  const cause = error.cause === undefined ? undefined : withoutRows(error.cause);
  return { type, message, stack, code, constraint, cause };
}
