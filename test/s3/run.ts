/**
 * `npm run test:s3`: the cases of every audio store, and the whole service, on a real object store. Needs Go, which builds
 * the store once; without it the tests are "not run".
 */
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { notRun, runSuite } from '../rig/suite.ts';

const server = 'github.com/versity/versitygw/cmd/versitygw@v1.8.0';
const folder = join(import.meta.dirname, '../../.data/versitygw');
/** The first time, Go builds some hundred packages. */
const longestBuildMs = 5 * 60_000;

await mkdir(folder, { recursive: true });
const options = { cwd: folder, env: { ...process.env, GOBIN: folder }, timeout: longestBuildMs };
await promisify(execFile)('go', ['install', server], options).catch(({ code, killed, stderr = '' }: BuildError) => {
  if (code === 'ENOENT') notRun('Go is not installed');
  if (killed) notRun(`versitygw was not built within ${longestBuildMs / 60_000} minutes; the next run goes on`);
  notRun(`versitygw could not be built: ${stderr.trim().split('\n').at(-1)}`);
});
await runSuite('test/s3/', { VERSITYGW: join(folder, 'versitygw') });

interface BuildError {
  code?: number | string | null;
  killed?: boolean;
  stderr?: string;
}
