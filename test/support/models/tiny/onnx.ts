/** Writes ONNX models, as far as a test needs them: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto */

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** @param files by their names @returns the folder */
export async function writeModel(folder: string, files: Record<string, string | Buffer>): Promise<string> {
  await mkdir(folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  return folder;
}

/** Each token with its number. */
export const tokenLines = (tokens: readonly string[], between = ' '): string =>
  tokens.map((token, index) => `${token}${between}${index}\n`).join('');

/** Types of numbers. */
export const float = 1;
export const int32 = 6;
export const int64 = 7;

const variable = 0;
const lengthDelimited = 2;

/** Protocol Buffers: a field number, its wire type, and what it holds. */
function field(number: number, value: number | string | Buffer): Buffer {
  if (typeof value === 'number') return Buffer.concat([varint((number << 3) | variable), varint(value)]);
  const bytes = Buffer.from(value);
  return Buffer.concat([varint((number << 3) | lengthDelimited), varint(bytes.length), bytes]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}

const message = (...fields: Buffer[]) => Buffer.concat(fields);

/** @param attributes whole numbers, and lists of them */
export function node(
  operator: string,
  inputs: string[],
  output: string,
  attributes: Record<string, number | number[]> = {},
): Buffer {
  const [integer, integers] = [2, 7];
  const attribute = ([name, value]: [string, number | number[]]) =>
    typeof value === 'number'
      ? message(field(1, name), field(3, value), field(20, integer))
      : message(field(1, name), ...value.map((each) => field(8, each)), field(20, integers));
  return message(
    ...inputs.map((name) => field(1, name)),
    field(2, output),
    field(4, operator),
    ...Object.entries(attributes).map((entry) => field(5, attribute(entry))),
  );
}

export function constant(name: string, dimensions: number[], values: Float32Array): Buffer {
  const raw = Buffer.from(values.buffer);
  return message(...dimensions.map((size) => field(1, size)), field(2, float), field(8, name), field(9, raw));
}

/** Lists of one whole number, or of some, by their names. */
export const wholes = (lists: Record<string, number | readonly number[]>): Buffer[] =>
  Object.entries(lists).map(([name, value]) => {
    const values = [value].flat();
    const raw = Buffer.from(BigInt64Array.from(values, BigInt).buffer);
    return message(field(1, values.length), field(2, int64), field(8, name), field(9, raw));
  });

/** @param dimensions a number, or a name where it varies */
export function port(name: string, type: number, dimensions: (number | string)[]): Buffer {
  const shape = message(...dimensions.map((size) => field(1, field(typeof size === 'number' ? 1 : 2, size))));
  return message(field(1, name), field(2, field(1, message(field(1, type), field(2, shape)))));
}

export interface Graph {
  nodes?: Buffer[];
  constants?: Buffer[];
  inputs?: Buffer[];
  outputs?: Buffer[];
  metadata?: Record<string, string | number>;
}

export function onnxModel({ nodes = [], constants = [], inputs = [], outputs = [], metadata = {} }: Graph): Buffer {
  const graph = message(
    ...nodes.map((part) => field(1, part)),
    field(2, 'tiny'),
    ...constants.map((part) => field(5, part)),
    ...inputs.map((part) => field(11, part)),
    ...outputs.map((part) => field(12, part)),
  );
  const [irVersion, operatorSet] = [8, 13];
  const pairs = Object.entries(metadata).map(([key, value]) =>
    field(14, message(field(1, key), field(2, String(value)))),
  );
  return message(
    field(1, irVersion),
    field(7, graph),
    field(8, message(field(1, ''), field(2, operatorSet))),
    ...pairs,
  );
}
