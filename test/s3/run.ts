/**
 * `npm run test:s3`: the cases of every audio store, and the whole service, on a real object store. Needs Go, which builds
 * the store once; without it the tests are "not run".
 */
import { runTests } from '../rig/jest.ts';
import { versitygw } from '../rig/versitygw.ts';

// Jest takes what follows the patterns for one of them.
const tests = ['--testPathIgnorePatterns=/node_modules/', '--maxWorkers=1', 'test/s3/', ...process.argv.slice(2)];
process.exitCode = (await runTests(tests, { VERSITYGW: await versitygw() })) ? 0 : 1;
