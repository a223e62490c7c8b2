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
  return destination ? pino(options, destination) : pino(options);
}

function withoutRows(error: unknown): unknown {
  if (!Error.isError(error)) return error;
  const { type, message, stack, code, constraint } = stdSerializers.err(error) as Record<string, unknown>;
  const cause = error.cause === undefined ? undefined : withoutRows(error.cause);
  return { type, message, stack, code, constraint, cause };
}
