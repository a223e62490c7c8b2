import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';

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
  const metadata = new Map<string, string>();
  let fields = 0;
  for (let position = 0; position < size; fields += 1) {
    const head = fieldAt(await bytesAt(handle, position, 20), 0);
    if (head === undefined || position + head.end > size || fields > mostFields)
      throw new Error(`${file} is no ONNX model`);
    if (head.number === metadataOfModel && head.end - head.start <= longestEntry) {
      const entry = entryOf(await bytesAt(handle, position + head.start, head.end - head.start));
      metadata.set(entry.key, entry.value);
    }
    position += head.end;
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
  if (tag === undefined) return undefined;
  const [number, wireType] = [Math.floor(tag.value / 8), tag.value % 8];
  if (number === 0) return undefined;
  const value = varintAt(bytes, tag.end);
  if (wireType === variable) return value && { number, start: tag.end, end: value.end };
  if (wireType === lengthDelimited) return value && { number, start: value.end, end: value.end + value.value };
  const length = wireType === eightBytes ? 8 : wireType === fourBytes ? 4 : undefined;
  return length && { number, start: tag.end, end: tag.end + length };
}

function varintAt(bytes: Buffer, position: number): { value: number; end: number } | undefined {
  let value = 0;
  for (let index = 0; index < 10; index += 1) {
    const byte = bytes[position + index];
    if (byte === undefined) return undefined;
    value += (byte % 128) * 128 ** index;
    if (byte < 128) return { value, end: position + index + 1 };
  }
  return undefined;
}

function entryOf(bytes: Buffer): { key: string; value: string } {
  const entry = { key: '', value: '' };
  for (let position = 0; position < bytes.length;) {
    const field = fieldAt(bytes, position);
    if (field === undefined) break;
    const text = bytes.toString('utf8', field.start, field.end);
    if (field.number === keyOfEntry) entry.key = text;
    if (field.number === valueOfEntry) entry.value = text;
    position = field.end;
  }
  return entry;
}

async function bytesAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}
