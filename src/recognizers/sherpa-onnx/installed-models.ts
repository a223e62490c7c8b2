/** Where models are. Each has a folder of its own, which appears only when it is complete. */
import { access } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { findKnownModel, isPacked } from './known-models.ts';
import type { KnownModel } from './known-models.ts';

/** What `SHERPA_ONNX_MODEL` says. */
export interface ChosenModel {
  folder: string;
  /** Of a known one. */
  name?: string;
}

/** Of the models that every installation needs: beside the program, once for all data folders. */
export const ownModels = resolve(import.meta.dirname, '../../../.models');

export function modelFolder(dataDir: string, model: KnownModel): string {
  return isPacked(model) ? join(ownModels, `${model.name}-${model.version}`) : join(dataDir, 'models', model.name);
}

export function folderOfKnown(dataDir: string, name: 'diarization' | 'vad'): string {
  return modelFolder(dataDir, findKnownModel(name)!);
}

/** @param folder see {@link modelFolder} */
export async function isInstalled(folder: string, model: KnownModel): Promise<boolean> {
  const files = model.files.map(({ name }) => access(join(folder, name)));
  return (await Promise.allSettled(files)).every(({ status }) => status === 'fulfilled');
}

/** @returns undefined for a known model that recognizes no words */
export function chooseModel(nameOrFolder: string, dataDir: string): ChosenModel | undefined {
  const known = findKnownModel(nameOrFolder);
  if (known === undefined) return { folder: resolve(nameOrFolder) };
  if (known.kind !== 'recognition') return undefined;
  return { folder: modelFolder(dataDir, known), name: known.name };
}

/** What to do when a chosen model is missing. The text ends with the command, so that it can be copied. */
export function howToInstall(name: string | undefined): string {
  return name === undefined
    ? 'Name the folder of a model for sherpa-onnx, or one of those that "npm run model -- list" shows.'
    : `Type: npm run model -- download ${name}`;
}
