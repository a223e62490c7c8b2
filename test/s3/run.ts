/**
 * `npm run test:s3`: the cases of every audio store, and the whole service, on a real object store. Needs Go, which builds
 * the store once; without it the tests are "not run".
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const server = 'github.com/versity/versitygw/cmd/versitygw@v1.8.0';
const root = join(import.meta.dirname, '../..');
const folder = join(root, '.data/versitygw');
/** The first time, Go builds some hundred packages. */
const longestBuildMs = 5 * 60_000;

/** @returns the program; undefined after it was said why there is none */
async function build(): Promise<string | undefined> {
  await mkdir(folder, { recursive: true });
  try {
    const options = { cwd: folder, env: { ...process.env, GOBIN: folder }, timeout: longestBuildMs };
    await promisify(execFile)('go', ['install', server], options);
    return join(folder, 'versitygw');
  } catch (error) {
    console.log(`not run: ${whyNot(error as BuildError)}`);
    return undefined;
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

const program = await build();
if (program !== undefined) {
  const jest = ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js'];
  // Jest takes what follows the patterns for one of them.
  const tests = ['--testPathIgnorePatterns=/node_modules/', '--maxWorkers=1', 'test/s3/', ...process.argv.slice(2)];
  const env = { ...process.env, VERSITYGW: program };
  const [code] = await once(spawn(process.execPath, [...jest, ...tests], { cwd: root, env, stdio: 'inherit' }), 'exit');
  process.exitCode = code === 0 ? 0 : 1;
}
