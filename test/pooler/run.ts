/**
 * `npm run test:pooler`: the service behind a real PgBouncer, and with `--all` the suites of the API, the worker and the
 * database once more, through it.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { findPgBouncer } from './build.ts';

const root = join(import.meta.dirname, '../..');

async function jest(patterns: string[], env: Record<string, string>): Promise<boolean> {
  const program = ['node_modules/jest/bin/jest.js'];
  const ignored = ['/node_modules/', 'test/bench/', 'test/s3/'].map((path) => `--testPathIgnorePatterns=${path}`);
  // Jest takes what follows the patterns for one of them.
  const args = [...program, ...ignored, '--maxWorkers=2', ...patterns];
  const child = spawn(process.execPath, args, { cwd: root, env: { ...process.env, ...env }, stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  return code === 0;
}

const suites = ['handlers/', 'db/', 'src/api/', 'src/worker/', 'src/sessions/', 'scripts/admin/'];

const { program, whyNot } = await findPgBouncer();
if (program === undefined) console.log(`not run: ${whyNot}`);
else {
  const own = await jest(['test/pooler/'], { PGBOUNCER: program });
  const through = () => jest(suites.map((folder) => `test/${folder}`), { PGBOUNCER: program, THROUGH_POOLER: '1' }); // prettier-ignore
  process.exitCode = own && (!process.argv.includes('--all') || (await through())) ? 0 : 1;
}
