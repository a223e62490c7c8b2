/** Models that lie in packages of npm: by npm itself, from a registry on loopback. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, readFile, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { create } from 'tar';
import { isInstalled } from '../../../src/recognizers/sherpa-onnx/known-models.ts';
import { llamaTokens } from '../../../scripts/model/packed.ts';
import { fetchModel, installFrom } from '../../../scripts/model/sources.ts';
import { startNpmRegistry } from '../../support/models/npm-registry.ts';
import { useFolder } from '../../support/use-folder.ts';
import type { PackedModel } from '../../../src/recognizers/sherpa-onnx/known-models.ts';

const root = useFolder();
const sum = (text: string | Buffer) => createHash('sha256').update(text).digest('hex');
const detector = 'a detector of voices';
const vocabulary = `const llama_vocab_base64 = "${Buffer.from('<unk>\n<0x0A>\n▁the\n弘').toString('base64')}"`;
const model: PackedModel = {
  ...{ name: 'ours', kind: 'voice detection', languages: 'any', bytes: 1000, version: '1.2.3' },
  files: [
    { package: '@ours/voices@1.2.3', path: 'dist/voices_v6.onnx', name: 'voices.onnx', sha256: sum(detector) },
    {
      ...{ package: 'llama-tokenizer-js@1.2.2', path: 'llama-tokenizer.js', name: 'tokens.txt' },
      sha256: sum(llamaTokens(vocabulary)),
    },
  ],
};

/** Where one package is as good as two: each is a start of npm. */
const small: PackedModel = { ...model, files: model.files.slice(0, 1) };

const npm = await startNpmRegistry();
const voices = '@ours/voices@1.2.3';
let archives = 0;
async function archiveOf(files: Record<string, string>): Promise<Buffer> {
  const own = join(root, `archive-${(archives += 1)}`);
  for (const [path, content] of Object.entries({ 'package.json': '{}', ...files })) {
    await mkdir(join(own, 'package', path, '..'), { recursive: true });
    await writeFile(join(own, 'package', path), content);
  }
  await create({ gzip: true, cwd: own, file: `${own}.tgz` }, ['package']);
  return readFile(`${own}.tgz`);
}
const published = {
  [voices]: await archiveOf({ 'dist/voices_v6.onnx': detector, 'dist/voices_v5.onnx': 'older' }),
  'llama-tokenizer-js@1.2.2': await archiveOf({ 'llama-tokenizer.js': vocabulary }),
};

/** Of a checkout of its own, which has its own npm, too: npm knows what it fetched before. */
const folderIn = (checkout: string) => join(root, checkout, '.models', 'ours-1.2.3');
const first = folderIn('first');
let folder: string;
let said: string[];
let checkouts = 0;
beforeEach(() => {
  npm.packages = { ...published };
  npm.requests.length = 0;
  folder = folderIn(`checkout-${(checkouts += 1)}`);
  said = [];
});

const installation = () => {
  const step = (title: string) => ({ reach() {}, next() {}, end: (done: boolean) => said.push(`${title}: ${done}`) });
  const progress = { say: (line: string) => void said.push(line), begin: step };
  const cache = join(folder, '../../npm-cache');
  const env = {
    ...process.env,
    ...{ npm_config_registry: npm.url, npm_config_fetch_retries: '0', npm_config_cache: cache },
  };
  return { folder, minFreeDisk: 0, env, signal: new AbortController().signal, progress };
};
const failure = (wanted = small) => fetchModel(wanted, installation()).catch((error: Error) => error.message);
const nothingIsLeft = () => {
  expect(existsSync(folder)).toBe(false);
  expect(existsSync(`${folder}.partial`)).toBe(false);
};

test('two first starts at once → one fetches it by npm, the other waits and finds it', async () => {
  folder = first;
  expect((await Promise.all([failure(model), failure(model)])).toSorted()).toEqual([false, true]);
  expect(said.toSorted()).toEqual([
    'Another command installs or removes ours: waiting for it.',
    'Downloading ours (1.0 kB): true',
  ]);
});

test('fetched → only the files that are needed, for everyone to read; the vocabulary as sherpa-onnx reads it', async () => {
  expect((await readdir(first)).sort()).toEqual(['tokens.txt', 'voices.onnx']);
  expect(await readFile(join(first, 'voices.onnx'), 'utf8')).toBe(detector);
  const tokens = (await readFile(join(first, 'tokens.txt'), 'utf8')).split('\n');
  expect(tokens.slice(0, 5)).toEqual(['PHVuaz4= 0', 'Cg== 1', '4paBdGhl 2', '5byY 3', 'PDxTVF8wPj4= 4']);
  expect(tokens.slice(-2)).toEqual([`${Buffer.from('<<ST_767>>').toString('base64')} 771`, '']);
  for (const path of [first, join(first, '..')]) expect((await stat(path)).mode & 0o777).toBe(0o755);
  expect((await stat(join(first, 'voices.onnx'))).mode & 0o777).toBe(0o644);
});

test('there already → npm is not asked, also where nothing may be written', async () => {
  folder = first;
  await chmod(join(first, '..'), 0o555);
  expect(await failure(model)).toBe(false);
  expect(npm.requests).toEqual([]);
});

test('from another checkout → the same files; with another file → refused', async () => {
  const brought = join(root, 'brought');
  await cp(first, brought, { recursive: true });
  expect(await installFrom(brought, model, installation())).toBe(true);
  expect(await isInstalled(folder, model)).toBe(true);
  await writeFile(join(brought, 'voices.onnx'), 'something else');
  folder = folderIn('third');
  await expect(installFrom(brought, model, installation())).rejects.toThrow('its SHA-256 is');
  nothingIsLeft();
});

// Debian's npm 9 says ERR!, newer ones say error.
const notFound =
  /^npm can not fetch @ours\/voices@1\.2\.3:\n {2}npm (error|ERR!) code E404[^]*HTTPS_PROXY[^]*Without internet/;
test.each<[string, () => unknown, RegExp | string]>([
  ['a package that is not there → npm’s own words, and what to do', () => (npm.packages = {}), notFound],
  [
    'a mirror with another file → both checksums',
    async () => (npm.packages[voices] = await archiveOf({ 'dist/voices_v6.onnx': 'something else' })),
    `voices.onnx is not the file that it should be: its SHA-256 is\n  ${sum('something else')}`,
  ],
])('%s; nothing is left', async (_, goesWrong, message) => {
  await goesWrong();
  expect(await failure()).toMatch(message);
  expect(said).toEqual(['Downloading ours (1.0 kB): false']);
  nothingIsLeft();
});

test('a package whose file is a link → refused, nothing is left', async () => {
  const own = join(root, 'hostile');
  await mkdir(join(own, 'package/dist'), { recursive: true });
  await symlink('/etc/passwd', join(own, 'package/dist/voices_v6.onnx'));
  await create({ gzip: true, cwd: own, file: `${own}.tgz` }, ['package']);
  npm.packages[voices] = await readFile(`${own}.tgz`);
  expect(await failure()).toMatch(/^@ours\/voices@1\.2\.3 holds no dist\/voices_v6\.onnx/);
  nothingIsLeft();
});
