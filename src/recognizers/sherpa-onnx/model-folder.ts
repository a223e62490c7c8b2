import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { canonicalTag, primaryOf } from '../../languages/tags.ts';
import { DependencyError } from '../../ops/dependency-error.ts';
import { LanguageNotKnown } from '../recognizer.ts';
import { whisperCodeOf } from '../whisper-languages.ts';
import { modelFamilies, partNames, usualName } from './model-families.ts';
import { readOnnxMetadata } from './onnx-metadata.ts';
import type { OfflineModelConfig } from 'sherpa-onnx-node';
import type { ModelFamily, ModelFiles } from './model-families.ts';
import type { OnnxMetadata } from './onnx-metadata.ts';

/** The folder is not there, or holds no known model. */
export class NoModel extends DependencyError {
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
  /** BCP 47 tags of those that it knows. Undefined when nothing tells. */
  languages: readonly string[] | undefined;
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
  const metadata = byNames
    ? new Map<string, string>()
    : await readOnnxMetadata(files[firstPart]!).catch((cause: Error) => {
        throw new NoModel(cause.message, { cause });
      });
  const alike = named.filter(({ parts }) => parts[0] === firstPart);
  const family = byNames ?? familyOf(folder, metadata, alike);
  return {
    family: await limited(family, files),
    languages:
      writtenIn(metadata) ?? family.languages ?? byName.find(([pattern]) => pattern.test(basename(folder)))?.[1],
    config: {
      ...{ tokens: files.tokens!, numThreads: 1, provider: 'cpu' },
      ...family.configOf(files as Required<ModelFiles>),
    },
    bytes: (await Promise.all(family.parts.map((part) => sizeWithWeights(files[part]!)))).reduce(
      (sum, each) => sum + each,
    ),
  };
}

async function limited(family: ModelFamily, files: ModelFiles): Promise<ModelFamily> {
  const { limitedBy } = family;
  if (limitedBy === undefined || !(await holdsName(files[limitedBy.part]!, limitedBy.input))) return family;
  return { ...family, longestChunkMs: limitedBy.longestChunkMs };
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

/** They take chunks of a fixed size, and sherpa-onnx ends the process when they are given a whole recording. */
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

/** The bytes of a file that is loaded, with the weights that lie beside it (`….onnx.data`, `….weights`). */
async function sizeWithWeights(file: string): Promise<number> {
  const stem = file.replace(/\.onnx$/, '');
  const weights = ['.onnx.data', '.onnx_data', '.data', '.weights'].map((ending) => `${stem}${ending}`);
  const sizes = await Promise.all(weights.map((path) => stat(path).catch(() => undefined)));
  return sizes.reduce((sum, beside) => sum + (beside?.size ?? 0), (await stat(file)).size);
}

/** Parakeet v3, which finds out the language by itself. */
const ofParakeet3 = 'bg cs da de el en es et fi fr hr hu it lt lv mt nl pl pt ro ru sk sl sv uk'.split(' ');

/** By the name of the folder, which is the model's own here and in sherpa-onnx's archives. */
const byName: readonly (readonly [pattern: RegExp, languages: readonly string[]])[] = [
  [/parakeet-tdt-0\.6b-v3/, ofParakeet3],
  [/parakeet-tdt-0\.6b-v2|parakeet-unified-en/, ['en']],
  [/^moonshine-tiny-[\d.]+$|moonshine-(tiny|base)-en\b/, ['en']],
];

/** Whisper and SenseVoice have their languages in them. */
function writtenIn(metadata: OnnxMetadata): string[] | undefined {
  if (metadata.get('is_multilingual') === '0') return ['en'];
  const ofWhisper = metadata.get('all_language_codes')?.split(',') ?? [];
  const ofSenseVoice = [...metadata.keys()].flatMap((key) => /^lang_(?!auto)(\w+)$/.exec(key)?.[1] ?? []);
  // Bokmål is what Whisper means by Norwegian.
  const bokmaal = ofWhisper.includes('no') ? ['nb'] : [];
  const tags = [...ofWhisper, ...bokmaal, ...ofSenseVoice].flatMap((code) => canonicalTag(code) ?? []);
  return tags.length > 0 ? tags.sort() : undefined;
}

/**
 * What to tell a model.
 * @returns the model's own code; undefined where there is nothing to tell
 * @throws {LanguageNotKnown}
 */
export function modelLanguageCode(
  { family: { told }, languages: known }: Pick<SherpaModel, 'family' | 'languages'>,
  language: string | undefined,
): string | undefined {
  if (language === undefined) return undefined;
  const primary = primaryOf(language);
  if (!known?.includes(primary)) throw new LanguageNotKnown(language, known);
  if (told === 'whisper') return known.length === 1 ? undefined : whisperCodeOf(language);
  return told === 'primary subtag' ? primary : undefined;
}
