/**
 * Compares openapi.yaml with the contract as it was last released and fails on a change that would break clients, unless
 * its major version says so. At a release, copy openapi.yaml over codegen/released.yaml.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';

// The newest version that the Go module proxy can build. Later ones need a module that the proxy does not have.
const oasdiff = 'github.com/oasdiff/oasdiff@v1.28.0';
const root = resolve(import.meta.dirname, '../..');
const [released, current] = ['codegen/released.yaml', 'openapi.yaml'].map((path) => resolve(root, path)) as [
  string,
  string,
];

// Changes that oasdiff only warns of, and that version 1 promises not to make.
const levels = resolve(import.meta.dirname, 'breaking-changes.levels');

const major = async (file: string) => Number(parse(await readFile(file, 'utf8')).info.version.split('.')[0]);

async function breakingChanges(): Promise<string | undefined> {
  const built = await run('--version');
  if (built.code === 'ENOENT') return notRun('Go is not installed');
  if (built.code !== 0) return notRun(`oasdiff could not be built: ${built.output.trim().split('\n').at(-1)}`);
  const { code, output } = await run('breaking', released, current, '--fail-on', 'ERR', '--severity-levels', levels);
  return code === 0 ? undefined : output;
}

async function run(...args: string[]): Promise<{ code: number | string; output: string }> {
  try {
    const { stdout } = await promisify(execFile)('go', ['run', oasdiff, ...args], { cwd: root });
    return { code: 0, output: stdout };
  } catch (error) {
    const {
      code = 1,
      stdout = '',
      stderr = '',
    } = error as { code?: number | string; stdout?: string; stderr?: string };
    return { code, output: `${stdout}${stderr}` };
  }
}

function notRun(why: string): undefined {
  console.log(`not run: ${why}`);
  return undefined;
}

const found = (await major(current)) > (await major(released)) ? undefined : await breakingChanges();
if (found !== undefined) {
  console.error(`${found}\nClients of version 1 were promised additions only. Add beside what is there instead.`);
  process.exitCode = 1;
}
