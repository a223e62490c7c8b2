/** CONTRIBUTING.md's walk-throughs hold to the letter: they are applied to a copy, and what they say is run there. */
import { execFile } from 'node:child_process';
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { useFolder } from '../support/use-folder.ts';
import { document, walkThrough } from './walk-throughs.ts';

const root = join(import.meta.dirname, '../..');
const copy = join(useFolder(), 'copy');
const run = (command: string, ...args: string[]) =>
  promisify(execFile)(command, args, { cwd: copy, maxBuffer: 2 ** 26 });

test('the walk-throughs, applied to a copy → it compiles, and the tests that they name pass', async () => {
  const { stdout } = await promisify(execFile)('git', ['ls-files', '-z'], { cwd: root, maxBuffer: 2 ** 26 });
  for (const file of stdout.split('\0').filter(Boolean)) await cp(join(root, file), join(copy, file));
  for (const installed of ['node_modules', '.models']) await symlink(join(root, installed), join(copy, installed));
  for (const [file, text] of walkThrough()) {
    await mkdir(dirname(join(copy, file)), { recursive: true });
    await writeFile(join(copy, file), text);
  }
  await run('npm', 'run', '--silent', 'generate');
  await run('npm', 'run', '--silent', 'typecheck');
  const named = [...document.matchAll(/^ {3}`\.\/scripts\/test (.*)`$/gm)].flatMap(([, paths = '']) =>
    paths.split(' '),
  );
  expect(named.length).toBeGreaterThan(3);
  await run('npm', 'test', '--silent', '--', ...named);
});
