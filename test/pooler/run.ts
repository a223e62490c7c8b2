/**
 * `npm run test:pooler`: the service behind a real PgBouncer, and with `--all` the suites of the API, the worker and the
 * database once more, through it.
 */
import { runTests } from '../rig/jest.ts';
import { pgBouncer } from './build.ts';

const suites = ['handlers/', 'db/', 'src/api/', 'src/worker/', 'src/sessions/', 'scripts/admin/'];

const PGBOUNCER = await pgBouncer();
const run = (patterns: string[], env: Record<string, string> = {}) => {
  const ignored = ['/node_modules/', 'test/bench/', 'test/s3/'].map((path) => `--testPathIgnorePatterns=${path}`);
  // Jest takes what follows the patterns for one of them.
  return runTests([...ignored, '--maxWorkers=2', ...patterns], { PGBOUNCER, ...env });
};
const own = await run(['test/pooler/']);
const through = () => run(suites.map((folder) => `test/${folder}`), { THROUGH_POOLER: '1' }); // prettier-ignore
process.exitCode = own && (!process.argv.includes('--all') || (await through())) ? 0 : 1;
