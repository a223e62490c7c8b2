/** Installation from what somebody brought along, for networks without internet. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { modelCommand } from './model-command.ts';
import type { ModelCommand } from './model-command.ts';

const execute = promisify(execFile);

let model: ModelCommand;
let brought: string;

/** `brought/sherpa-onnx-sense-voice/…`, with more files than are needed. */
beforeEach(async () => {
  model = await modelCommand();
  brought = join(model.dataDir, '../brought');
  const release = join(brought, 'sherpa-onnx-sense-voice');
  await mkdir(join(release, 'test_wavs'), { recursive: true });
  for (const [name, bytes] of Object.entries(model.files)) await writeFile(join(release, name), bytes);
  for (const name of ['README.md', 'model.onnx', 'test_wavs/en.wav'])
    await writeFile(join(release, name), 'not needed');
});
afterEach(async () => {
  expect(model.hub.requests).toEqual([]);
  await model.close();
});

const tar = (name: string, ...args: string[]) => execute('tar', ['-C', brought, '-cf', join(brought, name), ...args]);
const install = (name: string, env?: NodeJS.ProcessEnv) =>
  model.run(['download', 'sense-voice', '--from', name], { INIT_CWD: brought, ...env });

async function isWhole(): Promise<void> {
  const sizes = Object.fromEntries(Object.entries(model.files).map(([name, bytes]) => [name, bytes.length]));
  expect(await model.below(model.folder)).toEqual(sizes);
  expect(await readFile(join(model.folder, 'model.int8.onnx'))).toEqual(model.files['model.int8.onnx']);
  expect((await stat(join(model.folder, 'tokens.txt'))).mode & 0o777).toBe(0o600);
}

async function nothingIsLeft(): Promise<void> {
  expect(existsSync(model.folder)).toBe(false);
  expect(existsSync(`${model.folder}.partial`)).toBe(false);
}

test('a folder, its files linked as the hub tools do → installed, only what is needed', async () => {
  const release = join(brought, 'sherpa-onnx-sense-voice');
  await rename(join(release, 'tokens.txt'), join(brought, 'blob'));
  await symlink('../blob', join(release, 'tokens.txt'));
  const { code, stdout } = await install('sherpa-onnx-sense-voice');
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('is installed in') });
  await isWhole();
});

test.each(['release.tar', 'release.tar.gz', 'release.tar.bz2', 'without-a-name'])(
  '%s as sherpa-onnx releases it → installed, only what is needed',
  async (name) => {
    const compression = name.endsWith('.gz') ? ['-z'] : name.endsWith('.bz2') || !name.includes('.') ? ['-j'] : [];
    await tar(name, ...compression, 'sherpa-onnx-sense-voice');
    const { code, stderr } = await install(name);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^Installing .* …\nInstalling .*: done\n$/),
    });
    await isWhole();
  },
);

test('names that lead out of the archive → refused, nothing is written anywhere', async () => {
  await writeFile(join(brought, 'evil'), 'evil');
  await tar('up.tar', '-P', '--transform=s,^evil$,../../evil,', 'sherpa-onnx-sense-voice', 'evil');
  await tar('absolute.tar', '-P', `--transform=s,^evil$,${brought}/written,`, 'sherpa-onnx-sense-voice', 'evil');
  for (const [archive, name] of [
    ['up.tar', '"../../evil"'],
    ['absolute.tar', 'written"'],
  ] as const) {
    const { code, stderr } = await install(archive);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(name) });
    expect(stderr).toContain('Nothing was installed');
    await nothingIsLeft();
  }
  expect(existsSync(join(brought, 'written'))).toBe(false);
});

test('links, soft and hard, and pipes → refused', async () => {
  const release = join(brought, 'sherpa-onnx-sense-voice');
  await symlink('/etc/passwd', join(release, 'passwd'));
  await tar('soft.tar', 'sherpa-onnx-sense-voice');
  await execute('rm', [join(release, 'passwd')]);
  await execute('ln', [join(release, 'tokens.txt'), join(release, 'tokens2.txt')]);
  await tar('hard.tar', 'sherpa-onnx-sense-voice');
  await execute('rm', [join(release, 'tokens2.txt')]);
  await execute('mkfifo', [join(release, 'pipe')]);
  await tar('pipe.tar', 'sherpa-onnx-sense-voice');
  for (const [archive, said] of [
    ['soft.tar', 'a link'],
    ['hard.tar', 'a link'],
    ['pipe.tar', 'FIFO'],
  ] as const) {
    const { code, stderr } = await install(archive);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(said) });
    await nothingIsLeft();
  }
});

test.each(['.tar', '.tar.gz', '.tar.bz2'])('a %s that ends too early → refused, nothing is left', async (name) => {
  await tar(name, ...(name.endsWith('gz') ? ['-z'] : name.endsWith('bz2') ? ['-j'] : []), 'sherpa-onnx-sense-voice');
  const { size } = await stat(join(brought, name));
  await truncate(join(brought, name), Math.floor(size / 2));
  const { code, stderr } = await install(name);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(`${name} can not be read`) });
  await nothingIsLeft();
});

test('a .tar that ends between two files → refused, nothing is left', async () => {
  const release = join(brought, 'sherpa-onnx-sense-voice');
  await tar('whole.tar', 'sherpa-onnx-sense-voice/tokens.txt', 'sherpa-onnx-sense-voice/model.int8.onnx');
  const { size } = await stat(join(release, 'model.int8.onnx'));
  await truncate(join(brought, 'whole.tar'), 512 * (3 + Math.ceil(size / 512)));
  const { code, stderr } = await install('whole.tar');
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('it ends too early') });
  await nothingIsLeft();
});

test.each([
  ['nothing there', 'nowhere.tar', 'There is no '],
  ['no archive', 'sherpa-onnx-sense-voice/README.md', 'can not be read'],
  ['a folder without the model', 'sherpa-onnx-sense-voice/test_wavs', 'lacks model.int8.onnx, tokens.txt'],
])('%s → a sentence that says so, exit 1', async (_, source, said) => {
  const { code, stderr } = await install(source);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(said) });
  await nothingIsLeft();
});

test('a disk that is too small → refused', async () => {
  await tar('release.tar', 'sherpa-onnx-sense-voice');
  const { code, stderr } = await install('release.tar', { MIN_FREE_DISK: '9007199254740991' });
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('MIN_FREE_DISK') });
  await nothingIsLeft();
});

test('no bzip2 on this machine → says what to install', async () => {
  await tar('release.tar.bz2', '-j', 'sherpa-onnx-sense-voice');
  const args = ['download', 'sense-voice', '--from', join(brought, 'release.tar.bz2')];
  const { code, stderr } = await model.startProcess(args, { PATH: '/nowhere' }).ended;
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('apt-get install bzip2') });
});

test('diarization from a folder with the names of the hub, or with ours → segmentation.onnx and embedding.onnx', async () => {
  const names = [
    ['model.onnx', 'nemo_en_titanet_small.onnx'],
    ['segmentation.onnx', 'embedding.onnx'],
  ];
  for (const [index, pair] of names.entries()) {
    const folder = join(brought, `voices${index}`);
    await mkdir(folder);
    for (const name of pair) await writeFile(join(folder, name), name);
    const { code } = await model.run(['download', 'diarization', '--from', folder]);
    expect(code).toBe(0);
    const installed = await model.below(join(model.dataDir, 'models/diarization'));
    expect(installed).toEqual({ 'segmentation.onnx': pair[0]!.length, 'embedding.onnx': pair[1]!.length });
    await model.run(['remove', 'diarization']);
  }
});
