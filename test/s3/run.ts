/**
 * `npm run test:s3`: the cases of every audio store, and the whole service, on a real object store. Needs Go, which builds
 * the store once; without it the tests are "not run".
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { buildVersitygw } from '../support/service/versitygw.ts';

const root = join(import.meta.dirname, '../..');

const built = await buildVersitygw();
if ('whyNot' in built) console.log(`not run: ${built.whyNot}`);
else {
  const jest = ['node_modules/jest/bin/jest.js'];
  // Jest takes what follows the patterns for one of them.
  const tests = ['--testPathIgnorePatterns=/node_modules/', '--maxWorkers=1', 'test/s3/', ...process.argv.slice(2)];
  const env = { ...process.env, VERSITYGW: built.program };
  const [code] = await once(spawn(process.execPath, [...jest, ...tests], { cwd: root, env, stdio: 'inherit' }), 'exit');
  process.exitCode = code === 0 ? 0 : 1;
}
