/**
 * Something that only the operator can put right: a full disk, a missing program, a store that can't be read, no memory.
 * The same audio succeeds once that is done, so nobody's audio fails by it.
 */
export class OperatorFault extends Error {
  override readonly name: string = 'OperatorFault';
}

/** What the system says when it is out of something, or lets nobody at a disk (errno(3)). A file that is not there is none. */
const systemCodes = new Set([
  ...['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'ESTALE', 'ENODEV', 'ENXIO', 'EACCES', 'EPERM'],
  ...['ENOMEM', 'EMFILE', 'ENFILE', 'EAGAIN'],
]);

/** The operator's fault that an error is, or was caused by; undefined where there is none. */
export function operatorFaultBehind(error: unknown): Error | undefined {
  for (let cause = error; Error.isError(cause); cause = cause.cause) {
    const isSystemError = 'syscall' in cause && 'code' in cause && systemCodes.has(String(cause.code));
    if (cause instanceof OperatorFault || isSystemError) return cause;
  }
  return undefined;
}
