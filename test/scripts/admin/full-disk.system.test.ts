/** The command on a disk without room for its database: it says so, and where to read on. */
import { spawnSync } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { projectFolder } from '../../architecture/source-files.ts';
import { canMountDisks, smallDisk } from '../../support/faults/small-disk.ts';

const create = `"${process.execPath}" scripts/admin/main.ts accounts create --name A --plan pro`;
/** dd fails where the disk ends; the second one fills the rest of its last page. */
const fill = 'for size in 64k 1; do dd if=/dev/zero bs=$size of="$DATA_DIR/$size" count=8192 2>/dev/null; done';

test.each([
  ['to be made', '8m', create],
  ['that is there', '120m', `${create} >/dev/null && { ${fill}; ${create}; }`],
])('a database %s finds no room → one sentence that names the page, exit code 1', async (_, size, script) => {
  if (!canMountDisks()) return;
  const dataDir = await mkdtemp(join(process.env.TEST_FOLDER!, 'full-'));
  const [program, ...args] = [...smallDisk(dataDir, size), 'sh', '-c', script];
  const env = { PATH: process.env.PATH, DATA_DIR: dataDir };
  const { status, stdout, stderr } = spawnSync(program!, args, { cwd: projectFolder, env, encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr.trim().split('\n').slice(1)).toEqual([
    'The disk of the database is full. Make room there first: scripts/deploy/OPERATIONS.md says how.',
  ]);
});
