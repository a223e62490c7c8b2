/** `npm run model` from a hub on loopback to a transcript by the real addon, and what it says to people. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeAudio } from '../../../src/audio/decode.ts';
import { readConfig } from '../../../src/config/config.ts';
import { createSherpaOnnx } from '../../../src/recognizers/sherpa-onnx/sherpa-onnx.ts';
import { speakTones } from '../../support/models/tiny/spoken-tones.ts';
import { modelCommand } from './model-command.ts';
import { useFolder } from '../../support/use-folder.ts';
import type { ModelCommand } from './model-command.ts';

const folder = useFolder();
let model: ModelCommand;
beforeEach(async () => void (model = await modelCommand()));
afterEach(() => model.close());

async function transcribe(env: NodeJS.ProcessEnv): Promise<string[]> {
  const recognizer = createSherpaOnnx(readConfig(env).sherpaOnnxModel);
  try {
    await recognizer.check();
    const { file: input } = await speakTones(folder, 'spoken', ['low', 'high', 'low']);
    const output = join(folder, 'decoded');
    const decoded = await decodeAudio({ input, output, maxDurationMs: 60_000, timeLimitMs: 60_000 });
    const { signal } = new AbortController();
    const { segments } = await recognizer.recognize({ file: output, ...decoded }, { signal });
    return segments.flatMap(({ words }) => words.map(({ text }) => text));
  } finally {
    await recognizer.close();
  }
}

test('download → its files, and SHERPA_ONNX_MODEL by its name transcribes; again → nobody is asked; list; remove', async () => {
  const { code, stdout, stderr } = await model.download();
  expect(stderr).toMatch(/^Downloading sense-voice \(240 MB\) …\nDownloading sense-voice .*: done\n$/);
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(/sense-voice is installed in .*SHERPA_ONNX_MODEL=sense-voice npm start\n$/s),
  });
  await model.expectWhole();
  expect(await transcribe({ DATA_DIR: model.dataDir, SHERPA_ONNX_MODEL: 'sense-voice' })).toEqual([
    ...['low', 'high', 'low'],
  ]);

  const asked = model.hub.requests.length;
  expect(await model.download()).toMatchObject({ code: 0, stdout: expect.stringContaining('is installed already') });
  expect(model.hub.requests).toHaveLength(asked);

  const { stdout: listed } = await model.run(['list'], { RECOGNIZER: 'sherpa-onnx' });
  expect(listed).toMatch(/^NAME +LANGUAGES +TIMES +SPEED +SIZE +INSTALLED\n/);
  expect(listed).toMatch(/\nwhisper-tiny +99 languages +sentences +fast +104 MB +no\n/);
  expect(listed).toMatch(/\nsense-voice .* yes\n/);
  expect(listed).toMatch(/\nvad +any \(finds speech\) +2\.3 MB +yes\n/);
  const { stdout: json } = await model.run(['list', '--json']);
  expect(JSON.parse(json)).toContainEqual({
    ...{ id: 'sense-voice', name: 'sense-voice', kind: 'recognition', installed: true },
    ...{ folder: model.folder, bytes: 239_549_735, languages: expect.any(String) },
    ...{ speed: 'fast', times: 'words' },
  });

  const remove = () => model.run(['remove', 'sense-voice']);
  expect(await remove()).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Removed sense-voice: .* kB are free/),
  });
  await model.expectNothing();
  expect((await remove()).stdout).toContain('nothing was removed');
});

test('download diarization → segmentation.onnx and embedding.onnx; vad → there already, and what it is for', async () => {
  const [segmentation, embedding] = [Buffer.alloc(2000, 's'), Buffer.alloc(3000, 'e')];
  model.hub.files = { 'model.onnx': segmentation, 'nemo_en_titanet_small.onnx': embedding };
  const { code, stdout } = await model.run(['download', 'diarization']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/from the next recording on\.$/m) });
  const installed = await model.below(join(model.dataDir, 'models/diarization'));
  expect(installed).toEqual({ 'segmentation.onnx': 2000, 'embedding.onnx': 3000 });
  expect((await model.run(['download', 'vad'])).stdout).toMatch(
    /^vad is installed already, in \.models\/vad-[\d.]+\.\n.*where somebody speaks\.\n$/,
  );
});

test('a file of an installed model is gone → the download brings it back', async () => {
  await mkdir(model.folder, { recursive: true });
  await writeFile(join(model.folder, 'tokens.txt'), 'of somebody else');
  expect((await model.download()).code).toBe(0);
  await model.expectWhole();
});

test.each([
  ['no command', [], 'Usage: npm run model --'],
  ['an unknown command', ['upload'], 'upload'],
  ['no name', ['download'], 'NAME'],
  ['an unknown name', ['download', 'whisper-huge'], /whisper-huge[^]*Type one of these:\n {2}moonshine-tiny\n/],
  ['a name that leads elsewhere', ['remove', '../audio'], 'Type one of these'],
  ['an unknown option', ['list', '--loud'], '--loud'],
])('%s → what was wrong, what to type, exit 2', async (_, args, said) => {
  const { code, stdout, stderr } = await model.run(args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(said);
});

test.each([
  ['HF_ENDPOINT', 'hf.example.com', 'expected the address of a mirror'],
  ['HF_ENDPOINT', 'https://user:password@hf.example.com', 'without a user'],
  ['HTTPS_PROXY', 'not an address', 'expected an address such as http://proxy'],
  ['MIN_FREE_DISK', 'much', 'expected a whole number'],
])('%s=%s → named, exit 2', async (name, value, said) => {
  const { code, stderr } = await model.download({ [name]: value });
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(`${name}[^]*${said}`) });
  expect(stderr).not.toContain('password');
});

test('a DATA_DIR that can not be one → a sentence that names it, exit 1', async () => {
  const { code, stderr } = await model.download({ DATA_DIR: 'package.json' });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/package\.json\/models can not be used: .*\n$/),
  });
});

test('a model that is not installed → check says which command to type', async () => {
  const env = { DATA_DIR: model.dataDir, SHERPA_ONNX_MODEL: 'whisper-tiny' };
  await expect(transcribe(env)).rejects.toThrow(/Type: npm run model -- download whisper-tiny$/);
});
