/** Models below `DATA_DIR/models`. Each has a folder of its name, which appears only when it is complete. */
import { access } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { findKnownModel } from './known-models.ts';
import type { KnownModel } from './known-models.ts';

/** What `SHERPA_ONNX_MODEL` says. */
export interface ChosenModel {
  folder: string;
  /** Of a known one. */
  name?: string;
}

export const modelsFolder = (dataDir: string): string => join(dataDir, 'models');

export const modelFolder = (dataDir: string, name: string): string => join(modelsFolder(dataDir), name);

export async function isInstalled(dataDir: string, model: KnownModel): Promise<boolean> {
  const files = model.files.map(({ name }) => access(join(modelFolder(dataDir, model.name), name)));
  return (await Promise.allSettled(files)).every(({ status }) => status === 'fulfilled');
}

/** @returns undefined for a known model that recognizes no words */
export function chooseModel(nameOrFolder: string, dataDir: string): ChosenModel | undefined {
  const known = findKnownModel(nameOrFolder);
  if (known === undefined) return { folder: resolve(nameOrFolder) };
  if (known.kind !== 'recognition') return undefined;
  return { folder: modelFolder(dataDir, known.name), name: known.name };
}

/** What to do when a chosen model is missing. The text ends with the command, so that it can be copied. */
export function howToInstall(name: string | undefined): string {
  return name === undefined
    ? 'Name the folder of a model for sherpa-onnx, or one of those that "npm run model -- list" shows.'
    : `Type: npm run model -- download ${name}`;
}
