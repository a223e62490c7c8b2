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

/** @returns the program; undefined after it was said why there is none */
async function build(): Promise<string | undefined> {
  await mkdir(folder, { recursive: true });
  try {
    await promisify(execFile)('go', ['install', server], { cwd: folder, env: { ...process.env, GOBIN: folder } });
    return join(folder, 'versitygw');
  } catch (error) {
    const { code, stderr = '' } = error as { code?: number | string; stderr?: string };
    const why =
      code === 'ENOENT' ? 'Go is not installed' : `versitygw could not be built: ${stderr.trim().split('\n').at(-1)}`;
    console.log(`not run: ${why}`);
    return undefined;
  }
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
