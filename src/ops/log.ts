import { pino, stdSerializers } from 'pino';
import { LogOutput } from './log-output.ts';
import type { DestinationStream, Logger } from 'pino';

export type Log = Logger;

/**
 * One JSON line per event. Logs name accounts, keys, sessions and requests by their ids, and clients' addresses as far as
 * LOG_ADDRESSES allows. They never hold the keys themselves, transcripts, file names or the values of queries. Of a
 * database error they hold only what can't quote a row.
 */
export function createLog({ logLevel }: { logLevel: string }, destination?: DestinationStream): Log {
  const options = { level: logLevel, base: { pid: process.pid }, serializers: { err: withoutRows } };
  if (destination !== undefined) return pino(options, destination);
  const output = new LogOutput();
  const log = pino(options, output);
  output.onLoss((lost) => log.warn({ lost }, 'lines of this log were lost while they could not be written'));
  outputs.set(log, output);
  return log;
}

const outputs = new WeakMap<Log, LogOutput>();

/**
 * How many lines of this log were lost since the process began. It is 0 for a log that does not go to standard output.
 */
export const lostLines = (log: Log): number => outputs.get(log)?.lost ?? 0;

function withoutRows(error: unknown): unknown {
  if (!Error.isError(error)) return error;
  const { type, message, stack, code, constraint } = stdSerializers.err(error) as Record<string, unknown>;
  const cause = error.cause === undefined ? undefined : withoutRows(error.cause);
  return { type, message, stack, code, constraint, cause };
}
