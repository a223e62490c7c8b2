/** A model of a few kilobytes that sherpa-onnx takes for a Canary. It says what begins in each second. */
import { constant, float, int32, int64, node, onnxModel, port, tokenLines, wholes, writeModel } from './onnx.ts';
import { melBins, toneOfSecond, towardsLow } from './tone-evidence.ts';

const languages = ['en', 'es', 'de', 'fr'].map((code) => `<|${code}|>`);
const tokens = [
  ...['▁low', '▁high', '▁tief', '▁hoch', '▁', '<|endoftext|>'],
  ...['<|startofcontext|>', '<|startoftranscript|>', '<|emo:undefined|>', '<|pnc|>', '<|nopnc|>', '<|noitn|>'],
  ...['<|notimestamp|>', '<|nodiarize|>', ...languages],
];
const [framesPerSecond, layers] = [100, 1];

/** Writes `encoder.onnx`, `decoder.onnx` and `tokens.txt`. */
export function makeTinyCanary(folder: string): Promise<string> {
  return writeModel(folder, { 'tokens.txt': tokenLines(tokens), 'encoder.onnx': encoder(), 'decoder.onnx': decoder() });
}

function encoder(): Buffer {
  return onnxModel({
    nodes: [
      node('MatMul', ['x', 'weights'], 'states'),
      node('Identity', ['x_lens'], 'lengths'),
      node('Identity', ['x_lens'], 'mask'),
    ],
    constants: [constant('weights', [melBins, 1], Float32Array.from(towardsLow))],
    inputs: [port('x', float, ['N', 'T', melBins]), port('x_lens', int64, ['N'])],
    outputs: [port('states', float, ['N', 'T', 1]), port('lengths', int64, ['N']), port('mask', int64, ['N'])],
    metadata: {
      ...{ model_type: 'EncDecMultiTaskModel', vocab_size: tokens.length, normalize_type: '', subsampling_factor: 1 },
      ...{ feat_dim: melBins, num_decoder_layers: layers, decoder_hidden_size: 1 },
    },
  });
}

/**
 * It is told nine tokens, one by one, with their positions, and then what it said itself, from position 1 on. Its state
 * keeps whether it was told German, which the fourth token says: then it speaks German.
 */
function decoder(): Buffer {
  const id = (token: string) => tokens.indexOf(token);
  const tones = toneOfSecond({
    ...{ evidence: 'states', axis: 1, perSecond: framesPerSecond, enough: 1 },
    tokens: { low: id('▁low'), high: id('▁high'), nothing: id('▁'), end: id('<|endoftext|>') },
  });
  return onnxModel({
    nodes: [
      node('Cast', ['input'], 'token and position', { to: int64 }),
      node('Gather', ['token and position', 'zero'], 'its token', { axis: 1 }),
      node('Gather', ['token and position', 'one'], 'its position', { axis: 1 }),
      node('Reshape', ['its token', 'one'], 'token'),
      node('Reshape', ['its position', 'one'], 'position'),
      node('Greater', ['token', 'prompt'], 'is told'),
      node('Where', ['is told', 'zero', 'position'], 'second'),
      ...tones.nodes,
      // The state grows by the token, so German is told when one of its values is it.
      node('Cast', ['token'], 'token as float', { to: float }),
      node('Reshape', ['token as float', 'one by one by one'], 'token state'),
      node('Concat', ['state', 'token state'], 'next_state', { axis: 1 }),
      node('Cast', ['next_state'], 'all tokens', { to: int64 }),
      node('Equal', ['all tokens', 'german'], 'are german'),
      node('Cast', ['are german'], 'germans', { to: int64 }),
      node('ReduceMax', ['germans'], 'is german', { keepdims: 0 }),
      node('Mul', ['is german', 'two'], 'further'),
      node('Add', ['heard', 'further'], 'heard in german'),
      node('Less', ['heard', 'two'], 'is tone'),
      node('Where', ['is tone', 'heard in german', 'heard'], 'spoken'),
      node('OneHot', ['spoken', 'vocabulary', 'off and on'], 'row'),
      node('Unsqueeze', ['row', 'zero'], 'logits'),
    ],
    constants: [
      ...tones.constants,
      ...wholes({ zero: 0, one: 1, two: 2, 'one by one by one': [1, 1, 1] }),
      ...wholes({ vocabulary: tokens.length, prompt: id('<|endoftext|>'), german: id('<|de|>') }),
      constant('off and on', [2], Float32Array.of(-50, 50)),
    ],
    inputs: [
      port('input', int32, [1, 2]),
      port('state', float, [1, 'S', 1]),
      port('states', float, ['N', 'T', 1]),
      port('mask', int64, ['N']),
    ],
    outputs: [port('logits', float, [1, 1, tokens.length]), port('next_state', float, [1, 'S2', 1])],
  });
}
