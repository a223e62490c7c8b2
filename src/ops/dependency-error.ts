/**
 * A fault that only the operator can fix: a full disk, a missing program, a store that can't be read, too little
 * memory. The same audio succeeds afterwards, so the attempt does not count.
 */
export class DependencyError extends Error {
  override readonly name: string = 'DependencyError';
}

/** The message says all that an operator needs. A stack would only hide it. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}

/**
 * The system's error codes for a resource that is used up, or a disk that can't be used (errno(3)). A missing file is
 * not among them.
 */
const systemCodes = new Set([
  ...['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'ESTALE', 'ENODEV', 'ENXIO', 'EACCES', 'EPERM'],
  ...['ENOMEM', 'EMFILE', 'ENFILE', 'EAGAIN'],
]);

/** @returns the operator's fault that this error is or was caused by; undefined where there is none */
export function dependencyErrorOf(error: unknown): Error | undefined {
  for (let cause = error; Error.isError(cause); cause = cause.cause) {
    const isSystemError = 'syscall' in cause && 'code' in cause && systemCodes.has(String(cause.code));
    if (cause instanceof DependencyError || isSystemError) return cause;
  }
  return undefined;
}
