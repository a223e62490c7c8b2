/**
 * A model of 10 KB that sherpa-onnx takes for Silero's voice detector (version 5): to it a low and a high tone are voices,
 * and everything else is not.
 */
import { constant, float, int64, node, onnxModel, port, writeModel } from './onnx.ts';
import { wavesOfTones } from './spoken-tones.ts';

/** 512 samples, and 64 before them. */
const heard = 576;
/** Two for each tone. */
const waves = 4;
const leastPower = 0.001;
const sureness = 100_000;

/** Writes `silero_vad.onnx`. */
export function makeTinyVoices(folder: string): Promise<string> {
  return writeModel(folder, { 'silero_vad.onnx': detector() });
}

function detector(): Buffer {
  return onnxModel({
    nodes: [
      node('Transpose', ['waves'], 'of each sample', { perm: [1, 0] }),
      node('MatMul', ['input', 'of each sample'], 'amplitudes'),
      node('Mul', ['amplitudes', 'amplitudes'], 'powers'),
      node('MatMul', ['powers', 'sure'], 'power'),
      node('Add', ['power', 'least'], 'evidence'),
      node('Sigmoid', ['evidence'], 'output'),
      node('Identity', ['state'], 'stateN'),
    ],
    constants: [
      constant(
        'waves',
        [waves, heard],
        Float32Array.from(wavesOfTones(heard).flat(), (value) => (value * 2) / heard),
      ),
      constant('sure', [waves, 1], new Float32Array(waves).fill(sureness)),
      constant('least', [1, 1], Float32Array.of(-leastPower * sureness)),
    ],
    inputs: [port('input', float, [1, heard]), port('state', float, [2, 1, 128]), port('sr', int64, [])],
    outputs: [port('output', float, [1, 1]), port('stateN', float, [2, 1, 128])],
  });
}
