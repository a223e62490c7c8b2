import { NoModel, findModelFiles, holdsName, loadedBytes, usualName } from './model-files.ts';
import { modelFamilies } from './model-families.ts';
import { readOnnxMetadata } from './onnx-metadata.ts';
import type { OfflineModelConfig } from 'sherpa-onnx-node';
import type { ModelFamily } from './model-families.ts';
import type { ModelFiles } from './model-files.ts';
import type { OnnxMetadata } from './onnx-metadata.ts';

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
