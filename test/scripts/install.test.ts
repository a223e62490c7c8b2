/** `scripts/install` on a machine with Debian's essential programs and nothing else, whose apt-get installs what this test says. */
import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectFolder } from '../architecture/source-files.ts';
import { useFolder } from '../support/use-folder.ts';

const folder = useFolder();
const programs = join(folder, 'bin');
const asked = join(folder, 'asked');

const program = (name: string, script: string) =>
  writeFile(join(programs, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });

const install = (what: string) =>
  promisify(execFile)('/bin/bash', ['-c', `source scripts/install && ${what}`], {
    cwd: projectFolder,
    env: { PATH: programs },
  }).then(
    ({ stderr }) => ({ code: 0, stderr }),
    ({ code, stderr }: { code: number; stderr: string }) => ({ code, stderr }),
  );

/** A Node.js of this version: it answers for itself, and lets ours do the rest. */
const nodeOf = (version: string) =>
  program(
    'node',
    `[ "$1" != --version ] || { echo v${version}; exit; }
[ "$1" != -e ] || set -- -e "Object.defineProperty(process.versions, 'node', { value: '${version}' }); $2"
exec '${process.execPath}' "$@"`,
  );

beforeAll(async () => {
  await mkdir(programs);
  await symlink('/usr/bin/env', join(programs, 'env'));
  await program('id', 'echo 0');
  await program('apt-get', `echo "$*" >>'${asked}'`);
});

test('no Node.js → apt is asked for npm, which brings it; none from apt → says what is needed', async () => {
  expect(await install('install_system_packages "${service_packages[@]}"')).toMatchObject({ code: 0 });
  expect(await readFile(asked, 'utf8')).toMatch(/ install npm /);
  expect(await install('require_node')).toEqual({
    code: 1,
    stderr: expect.stringContaining('Node.js 18 or newer with npm is needed'),
  });
});

test.each(['18.20.4', '26.10.0'])('Node.js %s runs npm once → enough', async (version) => {
  await Promise.all([nodeOf(version), program('npm', 'exit 1')]);
  expect(await install('require_node && missing_of "${service_packages[@]}" >&2')).toEqual({
    code: 0,
    stderr: expect.not.stringContaining('npm'),
  });
});

test('Node.js 16 → too old, with its version', async () => {
  await nodeOf('16.20.2');
  expect(await install('require_node')).toEqual({
    code: 1,
    stderr: expect.stringContaining('is needed (https://nodejs.org). This is v16.20.2.'),
  });
});
