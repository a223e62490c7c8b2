import { AudioStoreLost } from './audio-store.ts';

/** The system's error codes for a disk that went away, can't be written to or fails (errno(3)). A full disk is not among them. */
const lostCodes = new Set([
  ...['ENOENT', 'ENOTDIR', 'EROFS', 'EIO', 'ESTALE', 'ENODEV', 'ENXIO', 'ENOTCONN', 'EACCES', 'EPERM'],
]);

/**
 * Does something on the disk of DATA_DIR, in folders that are there while the disk is.
 *
 * @throws {AudioStoreLost} when the disk is gone or fails
 */
export async function onDisk<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code, syscall, message } = error as NodeJS.ErrnoException;
    if (syscall === undefined || !lostCodes.has(code ?? '')) throw error;
    throw new AudioStoreLost(`the disk of DATA_DIR can not be used: ${message}`, { cause: error });
  }
}
