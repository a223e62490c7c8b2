import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { OperatorFault } from '../../operator-fault.ts';
import type { OfflineModelConfig } from 'sherpa-onnx-node';

export interface SherpaModel {
  kind: 'transducer' | 'whisper' | 'moonshine' | 'sense-voice';
  config: OfflineModelConfig;
  /** Of all its files. */
  bytes: number;
}

/** The folder is not there, or holds no known model. */
export class NoModel extends OperatorFault {
  override readonly name = 'NoModel';
}

/**
 * Finds out which model a folder holds, by the names of its files: those of sherpa-onnx's model archives. Of two files
 * the quantized one (`.int8`) is taken.
 * @throws {NoModel}
 */
export async function readModelFolder(folder: string): Promise<SherpaModel> {
  const names = await readdir(folder).catch((cause: unknown) => {
    throw new NoModel(`the folder ${folder} can not be read`, { cause });
  });
  const find = (pattern: RegExp): string | undefined => {
    const found = names.filter((name) => pattern.test(name));
    const name = found.find((candidate) => candidate.includes('.int8.')) ?? found[0];
    return name === undefined ? undefined : resolve(folder, name);
  };
  const encoder = find(/^(.*-)?encoder(\.int8)?\.onnx$/);
  const decoder = find(/^(.*-)?decoder(\.int8)?\.onnx$/);
  const joiner = find(/^(.*-)?joiner(\.int8)?\.onnx$/);
  const preprocessor = find(/^preprocess(\.int8)?\.onnx$/);
  const encode = find(/^encode(\.int8)?\.onnx$/);
  const uncachedDecoder = find(/^uncached_decode(\.int8)?\.onnx$/);
  const cachedDecoder = find(/^cached_decode(\.int8)?\.onnx$/);
  const model = find(/^model(\.int8)?\.onnx$/);
  const tokens = find(/^(.*-)?tokens\.txt$/);
  if (tokens === undefined) throw new NoModel(`${folder} holds no tokens.txt`);

  const shared = { tokens, numThreads: 1, provider: 'cpu' } as const;
  const bytes = await sizeOf(folder, names);
  if (encoder && decoder && joiner) {
    const config = { ...shared, transducer: { encoder, decoder, joiner }, modelType: 'nemo_transducer' };
    return { kind: 'transducer', config, bytes };
  }
  if (preprocessor && encode && uncachedDecoder && cachedDecoder) {
    const moonshine = { preprocessor, encoder: encode, uncachedDecoder, cachedDecoder };
    return { kind: 'moonshine', config: { ...shared, moonshine }, bytes };
  }
  if (encoder && decoder) {
    const whisper = { encoder, decoder, language: '', task: 'transcribe', tailPaddings: -1 } as const;
    return { kind: 'whisper', config: { ...shared, whisper }, bytes };
  }
  if (model) {
    const senseVoice = { model, language: 'auto', useInverseTextNormalization: 1 };
    return { kind: 'sense-voice', config: { ...shared, senseVoice }, bytes };
  }
  throw new NoModel(`${folder} holds no Whisper, NeMo transducer (Parakeet), Moonshine or SenseVoice model`);
}

async function sizeOf(folder: string, names: readonly string[]): Promise<number> {
  const stats = await Promise.all(names.map((name) => stat(join(folder, name))));
  return stats.reduce((sum, { size }) => sum + size, 0);
}
