/** `npm run bundle` on a small project with the real scripts. */
import { execFile } from 'node:child_process';
import { cp, mkdir, readFile, readdir, readlink, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { projectFolder } from '../architecture/source-files.ts';
import { useFolder } from '../support/use-folder.ts';

const execute = promisify(execFile);
const folder = useFolder();
const project = join(folder, 'project');
const archive = join(folder, 'bundle.tar.gz');
const git = (...args: string[]) =>
  execute('git', ['-C', project, '-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args]);

const bundle = (...args: string[]) =>
  execute(join(project, 'scripts/bundle'), args, { env: { ...process.env, INIT_CWD: folder, DATA_DIR: '' } }).then(
    ({ stderr }) => ({ code: 0, stderr }),
    ({ code, stderr }: { code: number; stderr: string }) => ({ code, stderr }),
  );

beforeAll(async () => {
  const files = {
    'package.json': '{"version": "1.2.3"}',
    'package-lock.json': '{"packages": {}}',
    '.gitignore': 'node_modules/\n.models/\n.data/\n',
    'node_modules/.package-lock.json': '{"packages": {}}',
    'node_modules/tool/main.js': 'tool',
    'node_modules/.cache/compiled': 'not needed',
    // What it finds missing, it fetches.
    'scripts/fetch-models/main.ts': `const fs = require('node:fs'); fs.mkdirSync('.models/vad-1', { recursive: true });
      for (const name of ['vad-1/voices.onnx', '.vad-1.lock']) fs.writeFileSync('.models/' + name, '')`,
    '.data/models/tiny/model.onnx': 'model',
    '.data/postgres/PG_VERSION': 'private',
    'with a space.txt': 'text',
  };
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(project, name, '..'), { recursive: true });
    await writeFile(join(project, name), text);
  }
  await mkdir(join(project, 'node_modules/.bin'));
  await symlink('../tool/main.js', join(project, 'node_modules/.bin/tool'));
  await symlink(process.execPath, join(project, 'node_modules/.bin/node'));
  for (const name of ['bundle', 'install', 'packages-installed.mjs'])
    await cp(join(projectFolder, 'scripts', name), join(project, 'scripts', name));
  await git('init', '--quiet');
  await git('add', '.');
  await git('commit', '--quiet', '--message', 'All');
});

test('a bundle with a model → the commit, its packages and the model; nothing else of this machine; what to do with it', async () => {
  expect(await bundle('--model', 'tiny', '--out', 'bundle.tar.gz')).toEqual({
    code: 0,
    stderr: expect.stringMatching(
      /bundle\.tar\.gz \(.*B, SHA-256 [0-9a-f]{64}\)\nWhat to do with it is in its BUNDLE.txt/,
    ),
  });
  await execute('tar', ['-C', folder, '-xzf', archive]);
  const [name = ''] = (await readdir(folder)).filter((each) => each.startsWith('transcription-1.2.3-'));
  const unpacked = join(folder, name);
  const found = await readdir(unpacked, { recursive: true, withFileTypes: true });
  const files = found.filter((each) => !each.isDirectory());
  const committed = (await git('ls-files')).stdout.trim().split('\n');
  expect(files.map((each) => relative(unpacked, join(each.parentPath, each.name))).toSorted()).toEqual(
    [
      ...[...committed, '.data/models/tiny/model.onnx', '.models/vad-1/voices.onnx', 'BUNDLE.txt'],
      ...['node_modules/.bin/node', 'node_modules/.bin/tool'],
      ...['node_modules/.package-lock.json', 'node_modules/tool/main.js'],
    ].toSorted(),
  );
  expect(await readlink(join(unpacked, 'node_modules/.bin/tool'))).toBe('../tool/main.js');
  const said = await readFile(join(unpacked, 'BUNDLE.txt'), 'utf8');
  expect(said).toContain((await git('rev-parse', 'HEAD')).stdout.trim());
  expect(said).toMatch(/SHERPA_ONNX_MODEL=tiny npm start\n[^]*\n {2}ffmpeg \d[^]*\n {2}chromium /);

  expect(await bundle('--out', archive)).toEqual({
    code: 1,
    stderr: expect.stringContaining('is there already'),
  });
});

test('a bundle without a model, or with one that all need → the commit, its packages and the models that all need', async () => {
  expect(await bundle('--model', 'vad', '--out', 'plain.tar.gz')).toMatchObject({ code: 0 });
  const { stdout } = await execute('tar', ['-tzf', join(folder, 'plain.tar.gz')]);
  expect(stdout).toContain('/node_modules/tool/main.js\n');
  expect(stdout).toContain('/.models/vad-1/voices.onnx\n');
  expect(stdout).not.toContain('.data');
});

test('a model by a path that leads elsewhere → refused, no archive', async () => {
  const before = await readdir(folder);
  const refused = { code: 1, stderr: expect.stringContaining('There is no model ../postgres') };
  expect(await bundle('--model', '../postgres')).toEqual(refused);
  expect(await readdir(folder)).toEqual(before);
});

test('changes that are not committed → named and refused', async () => {
  await writeFile(join(project, 'new.txt'), 'new');
  expect(await bundle('--out', 'other.tar.gz')).toEqual({ code: 1, stderr: expect.stringContaining('?? new.txt') });
});
