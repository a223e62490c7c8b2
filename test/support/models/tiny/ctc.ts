/** Models of a few kilobytes that sherpa-onnx takes for CTC models of several makers. They hear low and high tones. */
import { constant, float, int64, node, onnxModel, port, tokenLines, wholes, writeModel } from './onnx.ts';
import { melBins, towardsLow } from './tone-evidence.ts';

const tokens = ['▁low', '▁high', '<blk>'];
const zeros = new Array<number>(melBins).fill(0).join(',');
const ones = new Array<number>(melBins).fill(1).join(',');
/** One answer for so many frames of 10 ms. */
const subsampling = 4;

/** What each maker writes into the file, and whether frames or bins come first in its input. */
const makers = {
  'nemo-ctc': { model_type: 'EncDecCTCModelBPE', normalize_type: '' },
  'zipformer-ctc': { model_type: 'zipformer2_ctc' },
  dolphin: { mean: zeros, invstd: ones },
  'fire-red-asr-ctc': { model_type: 'fire-red-asr-2-ctc', cmvn_mean: zeros, cmvn_inv_stddev: ones },
};

type CtcMaker = keyof typeof makers;
export const ctcMakers = Object.keys(makers) as CtcMaker[];

/** Writes `model.onnx` and `tokens.txt`. */
export function makeTinyCtc(folder: string, maker: CtcMaker): Promise<string> {
  return writeModel(folder, { 'tokens.txt': tokenLines(tokens), 'model.onnx': model(maker) });
}

function model(maker: CtcMaker): Buffer {
  const isNemo = maker === 'nemo-ctc';
  return onnxModel({
    nodes: [
      isNemo ? node('Identity', ['x'], 'bins') : node('Transpose', ['x'], 'bins', { perm: [0, 2, 1] }),
      node('Conv', ['bins', 'weights', 'bias'], 'evidence', { kernel_shape: [subsampling], strides: [subsampling] }),
      node('Transpose', ['evidence'], 'logits', { perm: [0, 2, 1] }),
      node('LogSoftmax', ['logits'], 'log_probs', { axis: 2 }),
      node('Div', ['x_lens', 'subsampling'], 'log_probs_len'),
    ],
    constants: [
      constant('weights', [tokens.length, melBins, subsampling], weights()),
      constant('bias', [tokens.length], Float32Array.of(0, 0, 1)),
      ...wholes({ subsampling }),
    ],
    inputs: [port('x', float, isNemo ? ['N', melBins, 'T'] : ['N', 'T', melBins]), port('x_lens', int64, ['N'])],
    outputs: [port('log_probs', float, ['N', 'U', tokens.length]), port('log_probs_len', int64, ['N'])],
    metadata: { ...makers[maker], vocab_size: tokens.length, subsampling_factor: subsampling },
  });
}

/** By token, bin and frame. */
function weights(): Float32Array {
  const rows = [towardsLow, towardsLow.map((weight) => -weight), towardsLow.map(() => 0)];
  return Float32Array.from(
    rows.flatMap((row) => row.flatMap((weight) => new Array(subsampling).fill(weight / subsampling))),
  );
}
