import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, checkedOut } from '../../../src/ops/readings.ts';
import { useFolder } from '../../support/use-folder.ts';

const folder = useFolder();
const [one, other] = ['1'.repeat(40), '2'.repeat(40)];

test.each([
  [
    'a branch',
    { HEAD: 'ref: refs/heads/main\n', 'refs/heads/main': `${one}\n`, 'packed-refs': `${other} refs/heads/main` },
    one,
  ],
  [
    'a branch that was packed',
    {
      HEAD: 'ref: refs/heads/main\n',
      'packed-refs': `# pack-refs\n${other} refs/heads/main2\n${one} refs/heads/main\n`,
    },
    one,
  ],
  ['a commit', { HEAD: `${one}\n` }, one],
  ['a branch without commits', { HEAD: 'ref: refs/heads/main\n' }, undefined],
  ['no Git', {}, undefined],
])('%s → the commit that is checked out', async (name, files, commit) => {
  const git = join(folder, name);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(git, path, '..'), { recursive: true });
    await writeFile(join(git, path), text);
  }
  expect(checkedOut(git)).toBe(commit);
});

test('the version is that of the package', () => {
  expect(build).toMatchObject({ version: expect.stringMatching(/^\d+\.\d+\.\d+/), node: process.versions.node });
});
