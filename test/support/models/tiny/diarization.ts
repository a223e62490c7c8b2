/**
 * Two models of 20 KB that sherpa-onnx takes for pyannote's segmentation and for 3D-Speaker's embedding: to them a low tone
 * is one speaker and a high tone another, so that the real addon runs end to end: windows, turns, embeddings, clustering.
 */
import { constant, float, node, onnxModel, port, writeModel } from './onnx.ts';
import { wavesOfTones } from './spoken-tones.ts';
import { melBins, towardsLow } from './tone-evidence.ts';

const sampleRate = 16_000;
/** As in pyannote's segmentation 3.0: a frame hears 991 samples, a window of 10 s has 589 of them. */
const [windowSize, frameSize, frameShift] = [160_000, 991, 270];
/** Nobody, each of three speakers (the first is low, the second high), each two of them. */
const classes = 7;

/**
 * Writes `segmentation.onnx` and `embedding.onnx`.
 * @param inSilence who is heard where there is nothing to be heard
 */
export function makeTinyDiarization(folder: string, inSilence: 'nobody' | 'low' = 'nobody'): Promise<string> {
  return writeModel(folder, { 'segmentation.onnx': segmentation(inSilence), 'embedding.onnx': embedding() });
}

/** The power of both tones in each frame. What is louder than a certain power speaks. */
function segmentation(inSilence: 'nobody' | 'low'): Buffer {
  const [leastPower, never] = [0.001, -1000];
  const [ofLow, ofHigh] = [[0, 1, 0, 0, 1, 0, 0], [0, 0, 1, 0, 1, 0, 0]]; // prettier-ignore
  const nobody = inSilence === 'nobody' ? leastPower : never;
  return onnxModel({
    nodes: [
      node('Conv', ['x', 'waves'], 'amplitudes', { strides: [frameShift] }),
      node('Mul', ['amplitudes', 'amplitudes'], 'powers'),
      node('Transpose', ['powers'], 'frames', { perm: [0, 2, 1] }),
      node('MatMul', ['frames', 'evidence'], 'spoken'),
      node('Add', ['spoken', 'bias'], 'y'),
    ],
    constants: [
      constant(
        'waves',
        [4, 1, frameSize],
        Float32Array.from(wavesOfTones(frameSize).flat(), (value) => (value * 2) / frameSize),
      ),
      constant('evidence', [4, classes], Float32Array.from([ofLow, ofLow, ofHigh, ofHigh].flat())),
      constant('bias', [classes], Float32Array.of(nobody, 0, 0, never, -leastPower, never, never)),
    ],
    inputs: [port('x', float, ['N', 1, 'T'])],
    outputs: [port('y', float, ['N', 'frames', classes])],
    metadata: {
      ...{ model_type: 'pyannote-segmentation-3.0', sample_rate: sampleRate, window_size: windowSize },
      ...{ receptive_field_size: frameSize, receptive_field_shift: frameShift },
      ...{ num_speakers: 3, powerset_max_classes: 2, num_classes: classes },
    },
  });
}

/** How much more there is in the low bins than in the high ones, and how much less. */
function embedding(): Buffer {
  const weights = Float32Array.from(towardsLow.flatMap((weight) => [weight, -weight]));
  return onnxModel({
    nodes: [
      node('ReduceMean', ['x'], 'mean', { axes: [1], keepdims: 0 }),
      node('MatMul', ['mean', 'weights'], 'differences'),
      node('Relu', ['differences'], 'embedding'),
    ],
    constants: [constant('weights', [melBins, 2], weights)],
    inputs: [port('x', float, ['N', 'T', melBins])],
    outputs: [port('embedding', float, ['N', 2])],
    metadata: {
      ...{ framework: '3d-speaker', language: 'Chinese', output_dim: 2, sample_rate: sampleRate },
      ...{ normalize_samples: 1, feature_normalize_type: '' },
    },
  });
}
