/** A model that somebody brought here, for machines without internet. */
import { copyFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isInstalled } from '../../src/recognizers/sherpa-onnx/installed-models.ts';
import { isPacked } from '../../src/recognizers/sherpa-onnx/known-models.ts';
import { readModelFolder } from '../../src/recognizers/sherpa-onnx/model-folder.ts';
import { Refusal } from '../terminal/refusal.ts';
import { comparePacked } from './packed.ts';
import { holdModel, openStaging, partialFolder, publish, refuseFullDisk, removeWhole } from './staging.ts';
import type { KnownModel } from '../../src/recognizers/sherpa-onnx/known-models.ts';
import type { ModelFile } from '../../src/recognizers/sherpa-onnx/known-models.ts';
import type { Installation } from './download.ts';

/**
 * Installs a model from a folder. Its files are found by their names. Only of packed models there are checksums to
 * compare.
 * @returns whether it was installed; false when it is installed already
 * @throws {Refusal}
 * @throws the abort reason of `signal`
 */
export async function installFrom(source: string, model: KnownModel, installation: Installation): Promise<boolean> {
  const found = await stat(source).catch(() => undefined);
  if (found === undefined) throw new Refusal(`There is no ${source}.`);
  if (!found.isDirectory())
    throw new Refusal(`${source} is no folder. Unpack an archive first: tar xf ${basename(source)}`);
  return holdModel(installation.folder, model, async () => {
    if (await isInstalled(installation.folder, model)) return false;
    await refuseFullDisk(model.bytes, installation);
    // Downloaded parts are not needed any more.
    await removeWhole(partialFolder(installation.folder));
    const folder = await openStaging(installation.folder);
    try {
      await bring(source, model, folder, installation);
    } catch (error) {
      await removeWhole(folder);
      throw error;
    }
    await publish(installation.folder, model);
    return true;
  });
}

async function bring(source: string, model: KnownModel, folder: string, installation: Installation): Promise<void> {
  const { signal, progress } = installation;
  const step = progress.begin(`Installing ${model.name} from ${basename(source)}`, model.files.length);
  const missing: ModelFile[] = [];
  let isDone = false;
  try {
    for (const [index, file] of model.files.entries()) {
      step.reach(index);
      signal.throwIfAborted();
      const path = await pathOf(source, file);
      if (path === undefined) missing.push(file);
      else await copyFile(path, join(folder, file.name));
    }
    isDone = true;
  } finally {
    step.end(isDone);
  }
  if (missing.length > 0)
    throw new Refusal(`${source} lacks ${missing.map(namesOf).join(', ')}. Nothing was installed.`);
  if (isPacked(model)) await comparePacked(model.files, folder, signal);
  if (model.kind === 'recognition') await readModelFolder(folder);
}

/** Follows links: the folder is the operator's own, and the hub's tools make folders with links. */
async function pathOf(source: string, { name, path }: ModelFile): Promise<string | undefined> {
  for (const candidate of [join(source, name), join(source, path)])
    if ((await stat(candidate).catch(() => undefined))?.isFile()) return candidate;
}

const namesOf = ({ path, name }: ModelFile) => (path === name ? name : `${path} (or ${name})`);
