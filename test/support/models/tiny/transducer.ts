/** A model of a few kilobytes that sherpa-onnx takes for a Parakeet TDT. It hears low and high tones. */
import { constant, float, int32, int64, node, onnxModel, port, tokenLines, wholes, writeModel } from './onnx.ts';
import { melBins, towardsLow } from './tone-evidence.ts';

const tokens = ['▁low', '▁high', '<blk>'];
/** A token lasts half a second, so that a tone is one word. */
const [framesOfToken, durations] = [50, 51];
/** What the answer of a frame looks at, so that the click at the start of a tone does not matter. */
const frames = 5;
const never = -50;

/** Writes `encoder.onnx`, `decoder.onnx`, `joiner.onnx` and `tokens.txt`. */
export function makeTinyTransducer(folder: string): Promise<string> {
  return writeModel(folder, {
    'tokens.txt': tokenLines(tokens),
    'encoder.onnx': encoder(),
    'decoder.onnx': decoder(),
    'joiner.onnx': joiner(),
  });
}

/** Of each frame: how much speaks for a low tone. */
function encoder(): Buffer {
  const weights = Float32Array.from(towardsLow.flatMap((weight) => new Array(frames).fill(weight / frames)));
  return onnxModel({
    nodes: [
      node('Conv', ['audio_signal', 'weights'], 'outputs', { kernel_shape: [frames] }),
      node('Sub', ['length', 'beside'], 'encoded_lengths'),
    ],
    constants: [constant('weights', [1, melBins, frames], weights), ...wholes({ beside: frames - 1 })],
    inputs: [port('audio_signal', float, ['N', melBins, 'T']), port('length', int64, ['N'])],
    outputs: [port('outputs', float, ['N', 1, 'U']), port('encoded_lengths', int64, ['N'])],
    metadata: {
      ...{ model_type: 'EncDecRNNTBPEModel', vocab_size: tokens.length - 1, subsampling_factor: 1 },
      ...{ normalize_type: '', pred_rnn_layers: 1, pred_hidden: 1, feat_dim: melBins, url: 'a tiny tdt' },
    },
  });
}

/** It does not matter what was said before. */
function decoder(): Buffer {
  const states = ['state', 'other_state'];
  return onnxModel({
    nodes: [
      node('Identity', ['state'], 'outputs'),
      node('Identity', ['target_length'], 'prednet_lengths'),
      ...states.map((name) => node('Identity', [name], `next_${name}`)),
    ],
    inputs: [
      port('targets', int32, ['N', 'T']),
      port('target_length', int32, ['N']),
      ...states.map((name) => port(name, float, [1, 'N', 1])),
    ],
    outputs: [
      port('outputs', float, [1, 'N', 1]),
      port('prednet_lengths', int32, ['N']),
      ...states.map((name) => port(`next_${name}`, float, [1, 'N', 1])),
    ],
  });
}

/** Tokens first, then how many frames to go on: one after a blank, half a second after a token. */
function joiner(): Buffer {
  const [low, high, blank] = [0, 1, 2];
  const answers = tokens.length + durations;
  const weights = new Float32Array(answers);
  [weights[low], weights[high]] = [1, -1];
  const bias = new Float32Array(answers).fill(never);
  [bias[low], bias[high], bias[blank]] = [0, 0, 3];
  // More than the bias for a tone, whichever it is.
  const [blankFrames, tokenFrames] = [tokens.length + 1, tokens.length + framesOfToken];
  [bias[blankFrames], bias[tokenFrames]] = [3, 0];
  const magnitude = new Float32Array(answers);
  magnitude[tokenFrames] = 1;
  return onnxModel({
    nodes: [
      node('MatMul', ['encoder_outputs', 'weights'], 'evidence'),
      node('Abs', ['encoder_outputs'], 'clearness'),
      node('MatMul', ['clearness', 'magnitude'], 'long'),
      node('Add', ['evidence', 'long'], 'both'),
      node('Add', ['both', 'bias'], 'answers'),
    ],
    constants: [
      constant('weights', [1, answers], weights),
      constant('magnitude', [1, answers], magnitude),
      constant('bias', [answers], bias),
    ],
    inputs: [port('encoder_outputs', float, ['N', 1, 1]), port('decoder_outputs', float, [1, 'N', 1])],
    outputs: [port('answers', float, ['N', 1, answers])],
  });
}
