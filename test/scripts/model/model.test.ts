/** `npm run model` from a hub on loopback to a transcript by the real addon, and what it says to people. */
import { mkdir, stat, writeFile } from 'node:fs/promises';
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

test('download → only the files that are needed, for their owner only; SHERPA_ONNX_MODEL by name → a transcript', async () => {
  const { code, stdout, stderr } = await model.run(['download', 'sense-voice']);
  expect(stderr).toMatch(/^Downloading sense-voice \(\d+\.\d kB\) …\nDownloading sense-voice .*: done\n$/);
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(/sense-voice is installed in .*SHERPA_ONNX_MODEL=sense-voice npm start\n$/s),
  });
  const sizes = Object.fromEntries(Object.entries(model.files).map(([name, bytes]) => [name, bytes.length]));
  expect(await model.below(model.folder)).toEqual(sizes);
  expect((await stat(model.folder)).mode & 0o777).toBe(0o700);
  expect((await stat(join(model.folder, 'tokens.txt'))).mode & 0o777).toBe(0o600);
  expect(await transcribe({ DATA_DIR: model.dataDir, SHERPA_ONNX_MODEL: 'sense-voice' })).toEqual([
    ...['low', 'high', 'low'],
  ]);
});

test('download of what is there → said, and nobody is asked for anything', async () => {
  await model.run(['download', 'sense-voice']);
  const asked = model.hub.requests.length;
  const { code, stdout } = await model.run(['download', 'sense-voice']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('is installed already') });
  expect(model.hub.requests).toHaveLength(asked);
});

test('download diarization → segmentation.onnx and embedding.onnx', async () => {
  const [segmentation, embedding] = [Buffer.alloc(2000, 's'), Buffer.alloc(3000, 'e')];
  model.hub.files = { 'model.onnx': segmentation, 'nemo_en_titanet_small.onnx': embedding };
  const { code, stdout } = await model.run(['download', 'diarization']);
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(/tells speakers apart .* from the next recording on\.$/m),
  });
  const folder = join(model.dataDir, 'models/diarization');
  expect(await model.below(folder)).toEqual({ 'segmentation.onnx': 2000, 'embedding.onnx': 3000 });
});

test('download vad → it is there already, for every data folder, and what it is for', async () => {
  const { code, stdout } = await model.run(['download', 'vad']);
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^vad is installed already, in \.models\/vad-[\d.]+\.\n.*where somebody speaks\.\n$/),
  });
});

test('list → a table; --json → what is installed, begun, and where', async () => {
  await model.run(['download', 'sense-voice']);
  await mkdir(join(model.dataDir, 'models/whisper-tiny.partial'));
  const { stdout } = await model.run(['list']);
  expect(stdout).toMatch(/^NAME +LANGUAGES +TIMES +SPEED +SIZE +INSTALLED\n/);
  expect(stdout).toMatch(/\nwhisper-tiny +99 languages +sentences +fast +104 MB +in part\n/);
  expect(stdout).toMatch(/\nparakeet-tdt-0\.6b-v3 +25 European languages +words +fast +670 MB +no\n/);
  expect(stdout).toMatch(/\nsense-voice .* yes\n/);
  expect(stdout).toMatch(/\nvad +any \(finds speech\) +2\.3 MB +yes\n/);
  const { stdout: json } = await model.run(['list', '--json']);
  const listed = JSON.parse(json) as { id: string }[];
  expect(listed.find(({ id }) => id === 'sense-voice')).toEqual({
    ...{ id: 'sense-voice', name: 'sense-voice', kind: 'recognition', installed: true, begun: false },
    ...{ folder: model.folder, bytes: 239_549_735, languages: expect.any(String) },
    ...{ speed: 'fast', times: 'words' },
  });
});

test('remove → says what is free again; of what is not there → says so', async () => {
  await model.run(['download', 'sense-voice']);
  const { code, stdout } = await model.run(['remove', 'sense-voice']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^Removed sense-voice: .* kB are free/) });
  expect(Object.keys(await model.below(join(model.dataDir, 'models')))).toEqual(['.sense-voice.lock']);
  expect((await model.run(['remove', 'sense-voice'])).stdout).toContain('nothing was removed');
});

test('a file of an installed model is gone → the download brings it back', async () => {
  await mkdir(model.folder, { recursive: true });
  await writeFile(join(model.folder, 'tokens.txt'), 'of somebody else');
  expect((await model.run(['download', 'sense-voice'])).code).toBe(0);
  expect(await model.below(model.folder)).toMatchObject({ 'tokens.txt': model.files['tokens.txt']!.length });
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
  const { code, stderr } = await model.run(['download', 'sense-voice'], { [name]: value });
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(`${name}[^]*${said}`) });
  expect(stderr).not.toContain('password');
});

test('a DATA_DIR that can not be one → a sentence that names it, exit 1', async () => {
  const { code, stderr } = await model.run(['download', 'sense-voice'], { DATA_DIR: 'package.json' });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/package\.json\/models can not be used: .*\n$/),
  });
});

test('the recognizer is chosen already, and its model is not → list and download work', async () => {
  expect((await model.run(['list'], { RECOGNIZER: 'sherpa-onnx' })).code).toBe(0);
});

test('a model that is not installed → check says which command to type', async () => {
  const env = { DATA_DIR: model.dataDir, SHERPA_ONNX_MODEL: 'whisper-tiny' };
  await expect(transcribe(env)).rejects.toThrow(/Type: npm run model -- download whisper-tiny$/);
});
