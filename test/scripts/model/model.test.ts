/**
 * `npm run model`: from a hub on loopback, or what somebody brought along, to a transcript by the real addon; what can go wrong on
 * the way, each with what must not happen; and who gets to see proxies' passwords and tokens.
 */
import { mkdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeAudio } from '../../../src/audio/decode.ts';
import { readConfig } from '../../../src/config/config.ts';
import { createSherpaOnnx } from '../../../src/recognizers/sherpa-onnx/sherpa-onnx.ts';
import { speakTones } from '../../support/models/tiny/spoken-tones.ts';
import { giveBack, sendOn, serve } from '../../support/serve.ts';
import { useFolder } from '../../support/use-folder.ts';
import { modelCommand } from './model-command.ts';
import type { Trouble } from '../../support/models/model-hub.ts';
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
  expect(listed).toMatch(/\nwhisper-tiny +99 languages +sentences +fast +104 MB +no\n/);
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

test('a file of an installed model is gone → the download brings it back', async () => {
  await mkdir(model.folder, { recursive: true });
  await writeFile(join(model.folder, 'tokens.txt'), 'of somebody else');
  expect((await model.download()).code).toBe(0);
  await model.expectWhole();
});

test.each([
  ['an unknown name', ['download', 'whisper-huge'], /whisper-huge[^]*Type one of these:\n {2}moonshine-tiny\n/],
  ['a name that leads elsewhere', ['remove', '../audio'], 'Type one of these'],
])('%s → what was wrong, what to type, exit 2', async (_, args, said) => {
  const { code, stdout, stderr } = await model.run(args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(said);
});

test.each([
  ['HF_ENDPOINT', 'hf.example.com', 'expected the address of a mirror'],
  ['HF_ENDPOINT', 'https://user:password@hf.example.com', 'without a user'],
])('%s=%s → named, exit 2', async (name, value, said) => {
  const { code, stderr } = await model.download({ [name]: value });
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(`${name}[^]*${said}`) });
  expect(stderr).not.toContain('password');
});

const list = (...infos: unknown[]): Trouble => ({ metadata: infos });
const info = { type: 'file', path: 'model.int8.onnx', oid: 'a'.repeat(40), size: 5 };

test.each<[string, Trouble, string | RegExp]>([
  ['cuts the connection in the middle', { cut: { after: 8000, then: async () => {} } }, /fetched .*: type the same/],
  [
    'sends other bytes',
    { damaged: true },
    /SHA-256 is\n {2}[0-9a-f]{64} instead of\n {2}[0-9a-f]{64}\.\nIt was damaged/,
  ],
  ['does not stop', { endless: true }, 'sends more than it says'],
  ['answers 401', { status: 401 }, /with 401: .*set HF_TOKEN/],
  ['has no such file', list(), /has no file .* in csukuangfj/],
  ['gives no checksum', list({ ...info, oid: '../../evil' }), 'Is HF_ENDPOINT right?'],
])('a hub that %s → a sentence that says so, exit 1, nothing is left; then it is whole', async (_, trouble, said) => {
  model.hub.trouble = trouble;
  const { code, stdout, stderr } = await model.download();
  expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: expect.stringMatching(said) });
  expect(stderr).not.toContain('    at ');
  await model.expectNothing();
  model.hub.trouble = {};
  expect((await model.download()).code).toBe(0);
  await model.expectWhole();
});

test('a small file is damaged → its Git checksum tells', async () => {
  model.hub.files['model.int8.onnx'] = Buffer.alloc(900, 'small');
  model.hub.trouble = { damaged: true };
  expect(await model.download()).toMatchObject({ code: 1, stderr: expect.stringContaining('its Git SHA-1 is') });
  await model.expectNothing();
});

test('nobody answers → says which variables there are, and the way without internet', async () => {
  await model.hub.close();
  expect(await model.download()).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/can not be reached \(.*ECONNREFUSED.*\)[^]*HTTPS_PROXY[^]*HF_ENDPOINT[^]*--from/),
  });
});

test('a disk that is too small → refused before anything is asked for', async () => {
  expect(await model.download({ MIN_FREE_DISK: '9007199254740991' })).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/MIN_FREE_DISK[^]*set DATA_DIR/),
  });
  expect(model.hub.requests).toEqual([]);
});

/** Names another machine, since no proxy is asked for this one, where the hub of the tests is. */
const elsewhere = 'hub.invalid';

/** Hands on requests for http, whatever the host, to this machine. */
async function startProxy() {
  const asked: string[] = [];
  const authorizations = new Set<string | undefined>();
  const { url } = await serve(async (request, response) => {
    asked.push(`${request.method} ${request.url}`);
    authorizations.add(request.headers['proxy-authorization']);
    const answer = await sendOn(request, request.url!.replace(elsewhere, '127.0.0.1'));
    if (answer.headers.location !== undefined)
      answer.headers.location = answer.headers.location.replace('127.0.0.1', elsewhere);
    return giveBack(answer, response);
  });
  return { url, asked, authorizations };
}

test('a proxy with user and password → metadata and files go through it, and they are sent to it, not to the hub', async () => {
  const proxy = await startProxy();
  const mirror = model.hub.url.replace('127.0.0.1', elsewhere);
  const env = { HTTP_PROXY: proxy.url.replace('//', '//user:secret@'), HF_ENDPOINT: mirror };
  expect((await model.download(env)).code).toBe(0);
  expect(proxy.asked).toHaveLength(model.hub.requests.length);
  expect(proxy.asked.filter((line) => line.startsWith(`POST ${mirror}/api/models/`))).toHaveLength(2);
  expect(proxy.asked.filter((line) => /^GET .*\/blobs\/model\.int8\.onnx$/.test(line))).toHaveLength(1);
  expect(proxy.authorizations).toEqual(new Set([`Basic ${btoa('user:secret')}`]));
  expect(model.hub.requests.every(({ authorization }) => authorization === undefined)).toBe(true);
});

test('HF_TOKEN, of a mirror on this machine too → sent to the hub, not to the storage that it leads to, and by no proxy', async () => {
  const { url: HTTP_PROXY, asked } = await startProxy();
  expect((await model.download({ HF_TOKEN: 'of-a-mirror', HTTP_PROXY })).code).toBe(0);
  expect(asked).toEqual([]);
  const tokens = (kind: string) =>
    new Set(model.hub.requests.filter((request) => request.kind === kind).map(({ authorization }) => authorization));
  expect(tokens('paths-info')).toEqual(new Set(['Bearer of-a-mirror']));
  expect(tokens('resolve')).toEqual(new Set(['Bearer of-a-mirror']));
  expect(tokens('storage')).toEqual(new Set([undefined]));
});

test('HF_TOKEN that does not open it → says so, without the token', async () => {
  model.hub.trouble = { status: 403 };
  const { code, stderr } = await model.download({ HF_TOKEN: 'hf_secret' });
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('HF_TOKEN does not open it') });
  expect(stderr).not.toContain('hf_secret');
});

/** Installation from what somebody brought along, for networks without internet. */
describe('--from', () => {
  let brought: string;

  /** `brought/sherpa-onnx-sense-voice/…`, with more files than are needed. */
  beforeEach(async () => {
    brought = join(model.dataDir, '../brought');
    const release = join(brought, 'sherpa-onnx-sense-voice');
    await mkdir(join(release, 'test_wavs'), { recursive: true });
    for (const [name, bytes] of Object.entries(model.files)) await writeFile(join(release, name), bytes);
    for (const name of ['README.md', 'model.onnx', 'test_wavs/en.wav'])
      await writeFile(join(release, name), 'not needed');
  });
  afterEach(() => expect(model.hub.requests).toEqual([]));

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

  test('diarization from a folder with the names of the hub → segmentation.onnx and embedding.onnx', async () => {
    const voices = join(brought, 'voices');
    await mkdir(voices);
    for (const name of ['model.onnx', 'nemo_en_titanet_small.onnx']) await writeFile(join(voices, name), name);
    expect(await model.run(['download', 'diarization', '--from', voices])).toMatchObject({ code: 0 });
    const installed = await model.below(join(model.dataDir, 'models/diarization'));
    expect(installed).toEqual({ 'segmentation.onnx': 10, 'embedding.onnx': 26 });
  });
});
