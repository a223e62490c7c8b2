import { closeSync, fstatSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs';

const limitBytes = 10 * 1024 * 1024;

/** Runs `use` with a descriptor that appends to the log; a log that grew too large starts afresh. */
export function appendingTo<Result>(file: string, use: (descriptor: number) => Result): Result {
  const descriptor = openSync(file, 'a', 0o600);
  try {
    if (fstatSync(descriptor).size > limitBytes) truncateSync(file);
    return use(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Size of the log, bytes; 0 when there is none. */
export function logSize(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** The last lines of the log written since it had `fromByte` bytes. */
export function lastLines(file: string, fromByte: number): string {
  const added = readFileSync(file).subarray(Math.min(fromByte, logSize(file)));
  return added.toString().trimEnd().split('\n').slice(-15).join('\n');
}
