import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { OperatorFault } from '../../ops/operator-fault.ts';
import { modelFamilies, partNames, usualName } from './model-families.ts';
import { readOnnxMetadata } from './onnx-metadata.ts';
import type { OfflineModelConfig } from 'sherpa-onnx-node';
import type { ModelFamily, ModelFiles } from './model-families.ts';
import type { OnnxMetadata } from './onnx-metadata.ts';

/** The folder is not there, or holds no known model. */
export class NoModel extends OperatorFault {
  override readonly name = 'NoModel';
}

/**
 * Of several files for one part, the quantized one (`.int8`) is taken.
 * @throws {NoModel} the folder can't be read
 */
async function findModelFiles(folder: string): Promise<ModelFiles> {
  const found = await readdir(folder).catch((cause: unknown) => {
    throw new NoModel(`the folder ${folder} can not be read`, { cause });
  });
  const parts = Object.entries(partNames).flatMap(([part, pattern]) => {
    const candidates = found.filter((name) => pattern.test(name)).sort();
    const name = candidates.find((candidate) => candidate.includes('.int8.')) ?? candidates[0];
    return name === undefined ? [] : [[part, resolve(folder, name)] as const];
  });
  return Object.fromEntries(parts);
}

export interface SherpaModel {
  family: ModelFamily;
  config: OfflineModelConfig;
  /** Of the file that tells its family. */
  metadata: OnnxMetadata;
  /** What is loaded of its files. */
  bytes: number;
}

/**
 * Finds out which model a folder holds: by the names of its files, and where several models use the same names, by what
 * their makers wrote into them.
 * @throws {NoModel} the message says what is wrong
 */
export async function readModelFolder(folder: string): Promise<SherpaModel> {
  const files = await findModelFiles(folder);
  const named = modelFamilies.filter(({ parts }) => parts.every((part) => files[part] !== undefined));
  if (named.length === 0) throw new NoModel(lacking(folder, files));
  const byNames = named.find(({ isMeant }) => isMeant === undefined);
  const firstPart = named[0]!.parts[0]!;
  const metadata = byNames ? new Map<string, string>() : await metadataOf(files[firstPart]!);
  const alike = named.filter(({ parts }) => parts[0] === firstPart);
  const family = byNames ?? familyOf(folder, metadata, alike);
  return {
    ...{ family: await limited(family, files), metadata },
    config: {
      ...{ tokens: files.tokens!, numThreads: 1, provider: 'cpu' },
      ...family.configOf(files as Required<ModelFiles>),
    },
    bytes: await loadedBytes(family.parts.map((part) => files[part]!)),
  };
}

async function limited(family: ModelFamily, files: ModelFiles): Promise<ModelFamily> {
  const { limitedBy } = family;
  if (limitedBy === undefined || !(await holdsName(files[limitedBy.part]!, limitedBy.input))) return family;
  return { ...family, longestPieceMs: limitedBy.longestPieceMs };
}

/** @throws {NoModel} */
async function metadataOf(file: string): Promise<OnnxMetadata> {
  return readOnnxMetadata(file).catch((cause: Error) => {
    throw new NoModel(cause.message, { cause });
  });
}

/** @throws {NoModel} */
function familyOf(folder: string, metadata: OnnxMetadata, named: readonly ModelFamily[]): ModelFamily {
  if (isForStreams(metadata)) {
    throw new NoModel(`${folder} holds a model for live streams. Take one for whole recordings ("non-streaming")`);
  }
  const family = named.find(({ isMeant }) => isMeant?.(metadata));
  if (family !== undefined) return family;
  const type = metadata.get('model_type');
  const what = type === undefined ? 'that does not say its kind (model_type)' : `of an unknown kind, ${type}`;
  throw new NoModel(`${folder} holds a model ${what}. Known are ${named.map(({ name }) => name).join(', ')}`);
}

/** They hear chunks of a fixed size, and sherpa-onnx ends the process when they are given a whole recording. */
const isForStreams = (metadata: OnnxMetadata): boolean =>
  ['decode_chunk_len', 'streaming_model_type', 'chunk_shift'].some((key) => metadata.has(key));

/** Names what is missing of the family to which the folder comes nearest. */
function lacking(folder: string, files: ModelFiles): string {
  const present = ({ parts }: ModelFamily) => parts.filter((part) => part !== 'tokens' && files[part] !== undefined);
  const missing = ({ parts }: ModelFamily) => parts.filter((part) => files[part] === undefined);
  const nearest = modelFamilies
    .filter((family) => present(family).length > 0)
    .sort((a, b) => missing(a).length - missing(b).length || present(b).length - present(a).length)[0];
  if (nearest === undefined) return `${folder} holds no model that sherpa-onnx runs`;
  return `${folder} lacks ${missing(nearest).map(usualName).join(', ')} of a model like ${nearest.name}`;
}

/** Whether a model's file holds a name, such as that of an input. Both `.onnx` and `.ort` hold names as they are. */
async function holdsName(file: string, name: string): Promise<boolean> {
  let end = Buffer.alloc(0);
  for await (const chunk of createReadStream(file, { highWaterMark: 1024 * 1024 })) {
    const read = Buffer.concat([end, chunk as Buffer]);
    if (read.includes(name)) return true;
    end = read.subarray(-name.length);
  }
  return false;
}

/**
 * What is loaded of a model, in bytes: its files, with the weights that lie beside them (`….onnx.data`,
 * `….weights`).
 */
async function loadedBytes(files: readonly string[]): Promise<number> {
  const sizes = await Promise.all(files.map(sizeWithWeights));
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}

async function sizeWithWeights(file: string): Promise<number> {
  const [folder, stem] = [dirname(file), file.replace(/\.onnx$/, '')];
  const { size } = await stat(file);
  const endings = ['.onnx.data', '.onnx_data', '.data', '.weights'];
  const beside = new Set(await readdir(folder));
  const weights = endings.map((ending) => `${stem}${ending}`).filter((name) => beside.has(basename(name)));
  const bytes = await Promise.all(weights.map(async (name) => (await stat(name)).size));
  return bytes.reduce((sum, each) => sum + each, size);
}
