import { open } from 'node:fs/promises';

/** Keys and values that the maker of a model wrote into its file, such as `model_type`. */
export type OnnxMetadata = ReadonlyMap<string, string>;

/** Field numbers of https://github.com/onnx/onnx/blob/main/onnx/onnx.proto */
const metadataOfModel = 14;
const [keyOfEntry, valueOfEntry] = [1, 2];

/** The wire types of Protocol Buffers that a model's outermost fields may have. */
const [variable, eightBytes, lengthDelimited, fourBytes] = [0, 1, 2, 5];

/** A model has about ten fields, and about as many entries of metadata as fit on a screen. */
const mostFields = 10_000;
/** A value such as the means of all features takes 20 kB. */
const longestEntry = 1024 ** 2;

/**
 * Reads the metadata of an ONNX model. It skips the graph, so that a model of many gigabytes takes a few reads.
 * @throws {Error} it is no ONNX model
 */
export async function readOnnxMetadata(file: string): Promise<OnnxMetadata> {
  await using handle = await open(file);
  const { size } = await handle.stat();
  const bytesAt = async (position: number, length: number) => {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
    return buffer.subarray(0, bytesRead);
  };
  const metadata = new Map<string, string>();
  let fields = 0;
  for (let position = 0; position < size; fields += 1) {
    const { number, start, end } = fieldAt(await bytesAt(position, 20), 0) ?? { number: 0, start: 0, end: Infinity };
    if (position + end > size || fields > mostFields) throw new Error(`${file} is no ONNX model`);
    if (number === metadataOfModel && end - start <= longestEntry) {
      const texts = textsIn(await bytesAt(position + start, end - start));
      metadata.set(texts.get(keyOfEntry) ?? '', texts.get(valueOfEntry) ?? '');
    }
    position += end;
  }
  return metadata;
}

interface Field {
  number: number;
  /** Where its value starts and ends. */
  start: number;
  end: number;
}

/** @returns undefined where no field can be */
function fieldAt(bytes: Buffer, position: number): Field | undefined {
  const tag = varintAt(bytes, position);
  if (tag === undefined || tag.value < 8) return undefined;
  const [number, wireType] = [Math.floor(tag.value / 8), tag.value % 8];
  const value = varintAt(bytes, tag.end);
  if (wireType === variable) return value && { number, start: tag.end, end: value.end };
  if (wireType === lengthDelimited) return value && { number, start: value.end, end: value.end + value.value };
  const length = wireType === eightBytes ? 8 : wireType === fourBytes ? 4 : undefined;
  return length && { number, start: tag.end, end: tag.end + length };
}

function varintAt(bytes: Buffer, position: number): { value: number; end: number } | undefined {
  let value = 0;
  for (const [index, byte] of bytes.subarray(position, position + 10).entries()) {
    value += (byte % 128) * 128 ** index;
    if (byte < 128) return { value, end: position + index + 1 };
  }
  return undefined;
}

/** By the numbers of their fields. */
function textsIn(bytes: Buffer): Map<number, string> {
  const texts = new Map<number, string>();
  for (let field = fieldAt(bytes, 0); field !== undefined; field = fieldAt(bytes, field.end))
    texts.set(field.number, bytes.toString('utf8', field.start, field.end));
  return texts;
}
