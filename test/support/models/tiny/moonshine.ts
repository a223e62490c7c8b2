/**
 * A model of a few kilobytes that sherpa-onnx takes for a Moonshine. It says what begins in each second. It
 * hears samples, so it looks for two frequencies.
 */
import { constant, float, int32, int64, node, onnxModel, port, tokenLines, whole, writeModel } from './onnx.ts';
import { wavesOfTones } from './spoken-tones.ts';
import { toneOfSecond } from './tone-evidence.ts';

const tokens = ['<unk>', '<s>', '</s>', '▁low', '▁high', '▁'];
/** So many samples make one state: sherpa-onnx counts on it. */
const [samplesPerState, samplesPerSecond] = [384, 16_000];

/** Writes `preprocess.onnx`, `encode.onnx`, `uncached_decode.onnx`, `cached_decode.onnx` and `tokens.txt`. */
export function makeTinyMoonshine(folder: string): Promise<string> {
  return writeModel(folder, {
    'tokens.txt': tokenLines(tokens, '\t'),
    'preprocess.onnx': preprocess(),
    'encode.onnx': encode(),
    'uncached_decode.onnx': decode([]),
    'cached_decode.onnx': decode([port('state', float, [1, 'T', 1])]),
  });
}

/** How much there is of each frequency, in each stretch of samples: its sine and its cosine, squared. */
function preprocess(): Buffer {
  return onnxModel({
    nodes: [
      node('Unsqueeze', ['audio', 'one'], 'channel'),
      node('Conv', ['channel', 'waves'], 'parts', { kernel_shape: [samplesPerState], strides: [samplesPerState] }),
      node('Mul', ['parts', 'parts'], 'powers'),
      node('Transpose', ['powers'], 'steps', { perm: [0, 2, 1] }),
      node('MatMul', ['steps', 'low less high'], 'features'),
    ],
    constants: [
      whole('one', [1], [1]),
      constant('waves', [4, 1, samplesPerState], Float32Array.from(wavesOfTones(samplesPerState).flat())),
      constant('low less high', [4, 1], Float32Array.of(1, 1, -1, -1)),
    ],
    inputs: [port('audio', float, [1, 'S'])],
    outputs: [port('features', float, [1, 'T', 1])],
    metadata: {},
  });
}

function encode(): Buffer {
  return onnxModel({
    nodes: [node('Identity', ['features'], 'encoded')],
    constants: [],
    inputs: [port('features', float, [1, 'T', 1]), port('features_len', int32, [1])],
    outputs: [port('encoded', float, [1, 'T', 1])],
    metadata: {},
  });
}

/** @param states that it gets of the step before */
function decode(states: Buffer[]): Buffer {
  const perSecond = samplesPerSecond / samplesPerState;
  const tones = toneOfSecond({
    ...{ evidence: 'encoded', axis: 1, perSecond: Math.floor(perSecond), enough: 1 },
    tokens: {
      low: tokens.indexOf('▁low'),
      high: tokens.indexOf('▁high'),
      nothing: tokens.indexOf('▁'),
      end: tokens.indexOf('</s>'),
    },
  });
  return onnxModel({
    nodes: [
      node('Cast', ['seq_len'], 'length', { to: int64 }),
      node('Sub', ['length', 'one'], 'second'),
      ...tones.nodes,
      node('OneHot', ['heard', 'vocabulary', 'off and on'], 'row'),
      node('Unsqueeze', ['row', 'zero'], 'logits'),
      node('Identity', ['encoded'], 'next_state'),
    ],
    constants: [
      ...tones.constants,
      ...[whole('zero', [1], [0]), whole('one', [1], [1]), whole('vocabulary', [1], [tokens.length])],
      constant('off and on', [2], Float32Array.of(-50, 50)),
    ],
    inputs: [port('token', int32, [1, 1]), port('encoded', float, [1, 'T', 1]), port('seq_len', int32, [1]), ...states],
    outputs: [port('logits', float, [1, 1, tokens.length]), port('next_state', float, [1, 'T2', 1])],
    metadata: {},
  });
}
