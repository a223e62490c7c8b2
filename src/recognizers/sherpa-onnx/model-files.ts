import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { OperatorFault } from '../../ops/operator-fault.ts';

/** The folder is not there, or holds no known model. */
export class NoModel extends OperatorFault {
  override readonly name = 'NoModel';
}

/** What files are called in sherpa-onnx's model archives. `.int8`, `-epoch-99-avg-1` and the like may stand before the end. */
const names = {
  encoder: /^(.*-)?encoder([-.].*)?\.onnx$/,
  decoder: /^(.*-)?decoder([-.].*)?\.onnx$/,
  joiner: /^(.*-)?joiner([-.].*)?\.onnx$/,
  model: /^(.*-)?model([-.].*)?\.onnx$/,
  preprocess: /^preprocess(\..*)?\.onnx$/,
  encode: /^encode(\..*)?\.onnx$/,
  uncachedDecode: /^uncached_decode(\..*)?\.onnx$/,
  cachedDecode: /^cached_decode(\..*)?\.onnx$/,
  encoderModel: /^encoder_model\.(ort|onnx)$/,
  mergedDecoder: /^decoder_model_merged\.(ort|onnx)$/,
  tokens: /^(.*-)?tokens\.txt$/,
};

export type Part = keyof typeof names;

/** What messages call a part. */
export function usualName(part: Part): string {
  if (part === 'tokens') return 'tokens.txt';
  const name = part.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return part === 'mergedDecoder' ? 'decoder_model_merged.ort' : `${name}.onnx`;
}

/** Absolute paths of those parts of a model that a folder holds. */
export type ModelFiles = Readonly<Partial<Record<Part, string>>>;

/**
 * Of several files for one part, the quantized one (`.int8`) is taken.
 * @throws {NoModel} the folder can't be read
 */
export async function findModelFiles(folder: string): Promise<ModelFiles> {
  const found = await readdir(folder).catch((cause: unknown) => {
    throw new NoModel(`the folder ${folder} can not be read`, { cause });
  });
  const parts = Object.entries(names).flatMap(([part, pattern]) => {
    const candidates = found.filter((name) => pattern.test(name)).sort();
    const name = candidates.find((candidate) => candidate.includes('.int8.')) ?? candidates[0];
    return name === undefined ? [] : [[part, resolve(folder, name)] as const];
  });
  return Object.fromEntries(parts);
}

/** Whether a model's file holds a name, such as that of an input. Both `.onnx` and `.ort` hold names as they are. */
export async function holdsName(file: string, name: string): Promise<boolean> {
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
export async function loadedBytes(files: readonly string[]): Promise<number> {
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
