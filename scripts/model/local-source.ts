/** A model that somebody brought here, for machines without internet. */
import { copyFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isInstalled } from '../../src/recognizers/sherpa-onnx/installed-models.ts';
import { isPacked } from '../../src/recognizers/sherpa-onnx/known-models.ts';
import { readModelFolder } from '../../src/recognizers/sherpa-onnx/model-folder.ts';
import { Refusal } from '../terminal/refusal.ts';
import { unpackModel } from './archive.ts';
import { comparePacked } from './packed.ts';
import { holdModel, openStaging, partialFolder, publish, refuseFullDisk, removeWhole } from './staging.ts';
import type { Stats } from 'node:fs';
import type { KnownModel } from '../../src/recognizers/sherpa-onnx/known-models.ts';
import type { ModelFile } from '../../src/recognizers/sherpa-onnx/model-description.ts';
import type { Installation } from './download.ts';

/**
 * Installs a model from a folder, or from an archive in the form of sherpa-onnx's releases (.tar, .tar.gz, .tar.bz2).
 * Its files are found by their names. Only of packed models there are checksums to compare.
 * @returns whether it was installed; false when it is installed already
 * @throws {Refusal}
 * @throws the abort reason of `signal`
 */
export async function installFrom(source: string, model: KnownModel, installation: Installation): Promise<boolean> {
  const found = await stat(source).catch(() => undefined);
  if (found === undefined) throw new Refusal(`There is no ${source}.`);
  return holdModel(installation.folder, model, async () => {
    if (await isInstalled(installation.folder, model)) return false;
    await refuseFullDisk(model.bytes, installation);
    // Downloaded parts are not needed any more.
    await removeWhole(partialFolder(installation.folder));
    const folder = await openStaging(installation.folder, model);
    try {
      await bring(source, found, model, folder, installation);
    } catch (error) {
      await removeWhole(folder);
      throw error;
    }
    await publish(installation.folder, model);
    return true;
  });
}

async function bring(
  source: string,
  found: Stats,
  model: KnownModel,
  folder: string,
  installation: Installation,
): Promise<void> {
  const isFolder = found.isDirectory();
  const total = isFolder ? model.files.length : found.size;
  const step = installation.progress.begin(`Installing ${model.name} from ${basename(source)}`, total);
  const take = isFolder ? copyFiles : unpackModel;
  const arrived = await take(source, model.files, folder, installation, step.reach).catch((error: unknown) => {
    step.end(false);
    throw error;
  });
  step.end(true);
  const missing = model.files.filter(({ name }) => !arrived.has(name));
  if (missing.length > 0) {
    throw new Refusal(`${source} lacks ${missing.map(namesOf).join(', ')}. Nothing was installed.`);
  }
  if (isPacked(model)) await comparePacked(model.files, folder, installation.signal);
  if (model.kind === 'recognition') await readModelFolder(folder);
}

const namesOf = ({ path, name }: ModelFile) => (path === name ? name : `${path} (or ${name})`);

/**
 * Follows links: the folder is the operator's own, and the hub's tools make folders with links.
 * @param onFiles hears how many files were looked for
 */
async function copyFiles(
  source: string,
  files: readonly ModelFile[],
  folder: string,
  { signal }: Installation,
  onFiles: (files: number) => void,
): Promise<ReadonlySet<string>> {
  const arrived = new Set<string>();
  for (const [index, { path, name }] of files.entries()) {
    onFiles(index);
    for (const candidate of new Set([name, path])) {
      signal.throwIfAborted();
      const isThere = (await stat(join(source, candidate)).catch(() => undefined))?.isFile();
      if (!isThere || arrived.has(name)) continue;
      await copyFile(join(source, candidate), join(folder, name));
      arrived.add(name);
    }
  }
  return arrived;
}
