/** Installation from what somebody brought along, for networks without internet. */
import { mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { modelCommand } from './model-command.ts';
import type { ModelCommand } from './model-command.ts';

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

const install = (name: string) => model.run(['download', 'sense-voice', '--from', name], { INIT_CWD: brought });

test('a folder, its files linked as the hub tools do → installed, only what is needed', async () => {
  const release = join(brought, 'sherpa-onnx-sense-voice');
  await rename(join(release, 'tokens.txt'), join(brought, 'blob'));
  await symlink('../blob', join(release, 'tokens.txt'));
  const { code, stdout, stderr } = await install('sherpa-onnx-sense-voice');
  expect({ code, stdout, stderr }).toEqual({
    code: 0,
    stdout: expect.stringContaining('is installed in'),
    stderr: expect.stringMatching(/^Installing .* …\nInstalling .*: done\n$/),
  });
  await model.expectWhole();
});

test.each([
  ['nothing there', 'nowhere', 'There is no '],
  ['an archive', 'release.tar.bz2', 'is no folder. Unpack an archive first: tar xf release.tar.bz2'],
  ['a folder without the model', 'sherpa-onnx-sense-voice/test_wavs', 'lacks model.int8.onnx, tokens.txt'],
])('%s → a sentence that says so, exit 1', async (_, source, said) => {
  await writeFile(join(brought, 'release.tar.bz2'), 'BZh');
  const { code, stderr } = await install(source);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(said) });
  await model.expectNothing();
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
