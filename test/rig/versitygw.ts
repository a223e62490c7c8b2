/** versitygw, a real object store, which Go builds once. */
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { waitForLock } from '../../db/embedded/file-lock.ts';
import { notRun } from './suite.ts';

const server = 'github.com/versity/versitygw/cmd/versitygw@v1.8.0';
const folder = join(import.meta.dirname, '../../.data/versitygw');
/** The first time, Go builds some hundred packages. */
const longestBuildMs = 5 * 60_000;

/** Ends the command of a suite where it can not be built. @returns where the program is */
export async function versitygw(): Promise<string> {
  await mkdir(folder, { recursive: true });
  // Suites run beside each other, and one may run what another would write anew.
  const lock = await waitForLock(join(folder, 'lock'), 'exclusive', longestBuildMs);
  try {
    const options = { cwd: folder, env: { ...process.env, GOBIN: folder }, timeout: longestBuildMs };
    await promisify(execFile)('go', ['install', server], options);
    return join(folder, 'versitygw');
  } catch (error) {
    return notRun(whyNot(error as BuildError));
  } finally {
    lock.release();
  }
}

interface BuildError {
  code?: number | string | null;
  killed?: boolean;
  stderr?: string;
}

function whyNot({ code, killed, stderr = '' }: BuildError): string {
  if (code === 'ENOENT') return 'Go is not installed';
  if (killed === true) return `versitygw was not built within ${longestBuildMs / 60_000} minutes; the next run goes on`;
  return `versitygw could not be built: ${stderr.trim().split('\n').at(-1)}`;
}
