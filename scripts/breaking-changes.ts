/**
 * Compares openapi.yaml with the contract as it was last released and fails on a change that would break clients, unless
 * its major version says so. At a release, copy openapi.yaml over codegen/released.yaml.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';

// The newest version that the Go module proxy can build: later ones need a module that it doesn't have.
const oasdiff = 'github.com/oasdiff/oasdiff@v1.28.0';
const root = resolve(import.meta.dirname, '..');
const [released, current] = ['codegen/released.yaml', 'openapi.yaml'].map((path) => resolve(root, path)) as [
  string,
  string,
];

const major = async (file: string) => Number(parse(await readFile(file, 'utf8')).info.version.split('.')[0]);

async function breakingChanges(): Promise<string | undefined> {
  try {
    await promisify(execFile)('go', ['run', oasdiff, 'breaking', released, current, '--fail-on', 'ERR'], { cwd: root });
    return undefined;
  } catch (error) {
    const { code, stdout, stderr } = error as { code?: number | string; stdout?: string; stderr?: string };
    if (code === 'ENOENT') return notRun('Go is not installed');
    // oasdiff prints what it found on its standard output, and nothing there when it could not be built.
    return stdout ? stdout : notRun(`oasdiff could not be built: ${stderr?.trim().split('\n').at(-1)}`);
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
