/** CONTRIBUTING.md's walk-throughs hold to the letter: its diffs are applied to a copy, and what it says is run there. */
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { useFolder } from './support/use-folder.ts';

const root = join(import.meta.dirname, '..');
const copy = join(useFolder(), 'copy');
const run = (command: string, args: string[]) => promisify(execFile)(command, args, { cwd: copy, maxBuffer: 2 ** 26 });

interface Hunk {
  file: string;
  before: string;
  after: string;
}

/** What the document's diffs take away and put there, in its order. */
function hunksOf(document: string): Hunk[] {
  return [...document.matchAll(/^ {3}```diff\n(.*?)^ {3}```$/gms)].flatMap(([, block = '']) =>
    block
      .replace(/^ {3}/gm, '')
      .split(/^--- /m)
      .slice(1)
      .flatMap((part) => {
        const [file = '', ...lines] = part.split('\n').slice(0, -1);
        const hunks = lines.join('\n').split('\n@@\n');
        const side = (hunk: string, other: string) =>
          hunk
            .split('\n')
            .filter((line) => !line.startsWith(other))
            .map((line) => line.slice(1))
            .join('\n');
        return hunks.map((hunk) => ({ file, before: side(hunk, '+'), after: side(hunk, '-') }));
      }),
  );
}

async function applyHunk({ file, before, after }: Hunk): Promise<void> {
  const path = join(copy, file);
  await mkdir(dirname(path), { recursive: true });
  if (before === '') return writeFile(path, `${after}\n`, { flag: 'wx' });
  const [head, tail, ...more] = (await readFile(path, 'utf8')).split(before);
  if (tail === undefined || more.length > 0) throw new Error(`${file} holds this ${more.length} times: ${before}`);
  await writeFile(path, `${head}${after}${tail}`);
}

test('the walk-throughs, applied to a copy → it compiles, and the tests that they name pass', async () => {
  const { stdout } = await promisify(execFile)('git', ['ls-files', '-z'], { cwd: root, maxBuffer: 2 ** 26 });
  for (const file of stdout.split('\0').filter(Boolean)) await cp(join(root, file), join(copy, file));
  for (const installed of ['node_modules', '.models']) await symlink(join(root, installed), join(copy, installed));

  const document = await readFile(join(root, 'CONTRIBUTING.md'), 'utf8');
  for (const hunk of hunksOf(document)) await applyHunk(hunk);
  await run('npm', ['run', '--silent', 'generate']);
  await run('npm', ['run', '--silent', 'typecheck']);
  const named = [...document.matchAll(/^ {3}`\.\/scripts\/test (.*)`$/gm)].flatMap(([, paths = '']) =>
    paths.split(' '),
  );
  expect(named.length).toBeGreaterThan(3);
  await run('npm', ['test', '--silent', '--', ...named]);
});
