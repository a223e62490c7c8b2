/** `npm run check`: what must hold besides the tests. Prints one line per check, and the output of those that fail. */
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';

interface Check {
  name: string;
  /** A script of this project or a program of an npm package, and its arguments. */
  run: [string, ...string[]];
}

const root = resolve(import.meta.dirname, '../..');
const programs = 'node_modules/.bin';

const checks: Check[] = [
  { name: 'generated files are up to date', run: ['codegen/generate.ts', '--check'] },
  { name: 'types', run: ['node_modules/typescript-7/bin/tsc', '--noEmit'] },
  { name: 'lint', run: [`${programs}/oxlint`, '--type-aware', '--deny-warnings'] },
  { name: 'format', run: [`${programs}/prettier`, '--check', '--cache', '--log-level', 'warn', '.'] },
  {
    name: 'contract follows the recommended rules',
    run: [`${programs}/redocly`, 'lint', '--extends=recommended-strict', 'openapi.yaml'],
  },
  { name: 'contract breaks no promise of its last release', run: ['scripts/check/breaking-changes.ts'] },
  { name: 'manifests are what Kubernetes takes', run: ['scripts/check/manifests.ts'] },
];

// Without this, redocly would send statistics and look for a newer version of itself.
const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', NO_COLOR: '1' };

async function passes({ name, run }: Check): Promise<boolean> {
  const { promise, resolve: settle } = Promise.withResolvers<boolean>();
  execFile(process.execPath, run, { cwd: root, env, maxBuffer: 64 * 1024 ** 2 }, (error, stdout, stderr) => {
    const notRun = /^not run: .*/m.exec(stdout)?.[0];
    console.log(notRun && !error ? `- ${name}: ${notRun}` : `${error ? '✗' : '✓'} ${name}`);
    if (error) console.log(`${stdout}${stderr}`.trimEnd().replaceAll(/^/gm, '    '));
    settle(error === null);
  });
  return promise;
}

const results = await Promise.all(checks.map(passes));
process.exitCode = results.every(Boolean) ? 0 : 1;
