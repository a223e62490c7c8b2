/**
 * A model of 40 KB that sherpa-onnx takes for a Whisper. It hears what begins in each second of a chunk, and says it as
 * Whisper does, with the time before it and after it.
 */
import { constant, float, int64, node, onnxModel, port, tokenLines, wholes, writeModel } from './onnx.ts';
import { melBins, toneOfSecond, towardsLow } from './tone-evidence.ts';

const words = [' low', ' high'];
const [low, high, end, start] = [0, 1, 2, 3];
const [translate, transcribe, noSpeech, english, german, noTimes] = [4, 5, 6, 7, 8, 9];
/** As in the real one, the tokens of times are the last ones, one for each 20 ms of 30 s. */
const [firstTime, timeTokens, timesPerSecond] = [noTimes + 1, 1501, 50];
const vocabulary = firstTime + timeTokens;
const [startTime, endTime] = [0.3 * timesPerSecond, 0.7 * timesPerSecond];
const framesPerSecond = 100;

/** Writes `tiny-encoder.onnx`, `tiny-decoder.onnx` and `tiny-tokens.txt`. */
export function makeTinyWhisper(folder: string): Promise<string> {
  return writeModel(folder, {
    'tiny-tokens.txt': tokenLines(words.map((word) => Buffer.from(word).toString('base64'))),
    'tiny-encoder.onnx': encoder(),
    'tiny-decoder.onnx': decoder(),
  });
}

function encoder(): Buffer {
  return onnxModel({
    nodes: [
      node('Transpose', ['mel'], 'frames', { perm: [0, 2, 1] }),
      node('MatMul', ['frames', 'weights'], 'balance'),
      node('Unsqueeze', ['balance', 'layer'], 'n_layer_cross_k'),
      node('Identity', ['n_layer_cross_k'], 'n_layer_cross_v'),
    ],
    constants: [constant('weights', [melBins, 1], Float32Array.from(towardsLow)), ...wholes({ layer: 0 })],
    inputs: [port('mel', float, [1, melBins, 'T'])],
    outputs: ['n_layer_cross_k', 'n_layer_cross_v'].map((name) => port(name, float, [1, 1, 'T', 1])),
    metadata: {
      ...{ model_type: 'whisper-tiny', n_mels: melBins, n_text_layer: 1, n_text_ctx: 448, n_text_state: 1 },
      ...{ n_vocab: vocabulary, sot: start, eot: end, blank_id: low, translate, transcribe, no_speech: noSpeech },
      ...{ is_multilingual: 1, no_timestamps: noTimes, all_language_codes: 'en,de' },
      all_language_tokens: [english, german].join(','),
      sot_sequence: [start, english, transcribe].join(','),
    },
  });
}

/**
 * Its answer depends on how many tokens were said after the three that it is told: time, word, time for the first
 * second, the same for the next one. Asked for the language, it says English.
 */
function decoder(): Buffer {
  const [told, tokensPerSecond] = [3, 3];
  const caches = ['self_k_cache', 'self_v_cache'].map((name) => `n_layer_${name}`);
  const moreEnglish = Float32Array.from({ length: vocabulary }, (_, token) => (token === english ? 1 : 0));
  const tones = toneOfSecond({
    ...{ evidence: 'n_layer_cross_k', axis: 2, perSecond: framesPerSecond, enough: 0.05 },
    // Without a text of its own.
    tokens: { low, high, nothing: noSpeech, end },
  });
  return onnxModel({
    nodes: [
      node('Shape', ['tokens'], 'shape'),
      node('Gather', ['shape', 'one'], 'count'),
      node('Add', ['offset', 'count'], 'position'),
      node('Sub', ['position', 'told'], 'said'),
      node('Max', ['said', 'zero'], 'said now'),
      node('Div', ['said now', 'three'], 'second'),
      node('Mod', ['said now', 'three'], 'part'),
      ...tones.nodes,
      node('Mul', ['second', 'times per second'], 'first time'),
      node('Add', ['first time', 'start time'], 'time before'),
      node('Add', ['first time', 'end time'], 'time after'),
      node('Equal', ['part', 'one'], 'is word'),
      node('Equal', ['part', 'two'], 'is after'),
      node('Where', ['is after', 'time after', 'time before'], 'time'),
      node('Where', ['is word', 'heard', 'time'], 'spoken'),
      node('Where', ['is over', 'end', 'spoken'], 'token'),
      // All tokens get the same row; only the last one counts.
      node('OneHot', ['token', 'vocabulary', 'off and on'], 'row'),
      node('Unsqueeze', ['row', 'zero'], 'last row'),
      node('Concat', ['one', 'count', 'one'], 'repeats', { axis: 0 }),
      node('Tile', ['last row', 'repeats'], 'rows'),
      node('Add', ['rows', 'more english'], 'logits'),
      ...caches.map((name) => node('Identity', [`in_${name}`], `out_${name}`)),
    ],
    constants: [
      ...tones.constants,
      ...wholes({ zero: 0, one: 1, two: 2, three: tokensPerSecond, told, vocabulary }),
      ...wholes({
        'times per second': timesPerSecond,
        'start time': firstTime + startTime,
        'end time': firstTime + endTime,
      }),
      constant('off and on', [2], Float32Array.of(-50, 50)),
      constant('more english', [vocabulary], moreEnglish),
    ],
    inputs: [
      port('tokens', int64, [1, 'N']),
      ...caches.map((name) => port(`in_${name}`, float, [1, 1, 448, 1])),
      ...['n_layer_cross_k', 'n_layer_cross_v'].map((name) => port(name, float, [1, 1, 'T', 1])),
      port('offset', int64, [1]),
    ],
    outputs: [
      port('logits', float, [1, 'N', vocabulary]),
      ...caches.map((name) => port(`out_${name}`, float, [1, 1, 448, 1])),
    ],
  });
}
