import { access, constants } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { OperatorFault } from '../ops/operator-fault.ts';

/** A program that should be installed isn't; the message names it and what to type. */
export class ExecutableNotFound extends OperatorFault {
  override readonly name = 'ExecutableNotFound';
  readonly executable: string;

  constructor(executable: string) {
    super(`${executable} was not found. Install it: apt-get install ${debianPackages[executable] ?? executable}`);
    this.executable = executable;
  }
}

const debianPackages: Record<string, string> = {
  env: 'coreutils',
  ffmpeg: 'ffmpeg',
  prlimit: 'util-linux',
  setpriv: 'util-linux',
  sh: 'dash',
  unshare: 'util-linux',
};

/**
 * The absolute path of a program, looked up in the PATH of this process, since its children get no environment.
 * @throws {ExecutableNotFound}
 */
export async function findExecutable(name: string): Promise<string> {
  const folders = isAbsolute(name) ? [''] : (process.env['PATH'] ?? '').split(delimiter).filter(isAbsolute);
  for (const folder of folders) {
    const path = folder === '' ? name : join(folder, name);
    try {
      await access(path, constants.X_OK);
      return path;
    } catch {
      continue;
    }
  }
  throw new ExecutableNotFound(name);
}
