/**
 * A model of 20 KB that sherpa-onnx takes for a SenseVoice: it hears low tones (`low`), high tones (`high`) and nothing
 * else, so that the real addon runs end to end: features, decoding, token times, languages.
 */
import { constant, float, int32, node, onnxModel, port, tokenLines, wholes, writeModel } from './onnx.ts';
import { melBins, towardsLow } from './tone-evidence.ts';

const labels = ['<|en|>', '<|zh|>', '<|ja|>', '<|NEUTRAL|>', '<|Speech|>', '<|withitn|>'];
const tokens = ['<blank>', ...labels, '▁low', '▁high', '<unk>'];
/** Seven frames of 80 mel bins at a time, one step in six. */
const [frames, shift] = [7, 6];
const inputs = melBins * frames;
const classes = tokens.length;
/** By the number that stands for it in the model's input. Without a language it says that it hears English. */
const languages = new Array<string>(13).fill('<|en|>').with(3, '<|zh|>').with(11, '<|ja|>');

/**
 * Writes `model.onnx` and `tokens.txt`.
 * @param isDeafToSuddenStarts hears nothing in a chunk that is loud from its first moment on, as some real models do
 */
export function makeTinySenseVoice(folder: string, { isDeafToSuddenStarts = false } = {}): Promise<string> {
  return writeModel(folder, { 'tokens.txt': tokenLines(tokens), 'model.onnx': model(isDeafToSuddenStarts) });
}

function model(isDeafToSuddenStarts: boolean): Buffer {
  return onnxModel({
    nodes: [
      node('MatMul', ['x', 'weights'], 'evidence'),
      node('Add', ['evidence', 'bias'], 'heard'),
      node('Gather', ['x', 'start'], 'first', { axis: 1 }),
      node('ReduceMax', ['first'], 'loudness', { keepdims: 0 }),
      node('Greater', ['loudness', 'sudden'], 'is sudden'),
      node('Where', ['is sudden', 'nothing', 'heard'], 'spoken'),
      // SenseVoice answers language, emotion, event and text normalization before what it hears.
      node('Gather', ['languages', 'language'], 'told', { axis: 0 }),
      node('Concat', ['told', 'prefix', 'spoken'], 'logits', { axis: 1 }),
    ],
    constants: [
      constant('weights', [inputs, classes], weights()),
      constant('bias', [classes], Float32Array.from(tokens, biasOf)),
      constant('languages', [languages.length, 1, classes], saying(languages)),
      ...wholes({ start: 0 }),
      constant('sudden', [1], Float32Array.of(isDeafToSuddenStarts ? 0 : Infinity)),
      constant('nothing', [classes], saying(['<blank>'])),
      constant('prefix', [1, 3, classes], saying(['<|NEUTRAL|>', '<|Speech|>', '<|withitn|>'])),
    ],
    inputs: [
      port('x', float, ['N', 'T', inputs]),
      ...['x_length', 'language', 'text_norm'].map((name) => port(name, int32, ['N'])),
    ],
    outputs: [port('logits', float, ['N', 'T4', classes])],
    metadata: {
      ...{ model_type: 'sense_voice_ctc', vocab_size: classes, lfr_window_size: frames, lfr_window_shift: shift },
      ...{ normalize_samples: 0, with_itn: 14, without_itn: 15 },
      ...{ lang_auto: 0, lang_zh: 3, lang_en: 4, lang_yue: 7, lang_ja: 11, lang_ko: 12 },
      neg_mean: new Array(inputs).fill(0).join(','),
      inv_stddev: new Array(inputs).fill(1).join(','),
    },
  });
}

/** The mean energy of the low bins of the middle frame, less that of the high bins, speaks for `low`; the opposite for `high`. */
function weights(): Float32Array {
  const matrix = new Float32Array(inputs * classes);
  towardsLow.forEach((weight, bin) => {
    const row = (Math.floor(frames / 2) * melBins + bin) * classes;
    matrix[row + tokens.indexOf('▁low')] = weight;
    matrix[row + tokens.indexOf('▁high')] = -weight;
  });
  return matrix;
}

const never = -50;

/** More of one than of the other, or it is nothing. */
function biasOf(token: string): number {
  if (token === '<blank>') return 3;
  return token.startsWith('▁') ? 0 : never;
}

/** A row for each of these tokens, in which it is certain. */
function saying(certain: readonly string[]): Float32Array {
  const matrix = new Float32Array(certain.length * classes).fill(never);
  certain.forEach((token, frame) => {
    matrix[frame * classes + tokens.indexOf(token)] = -never;
  });
  return matrix;
}
