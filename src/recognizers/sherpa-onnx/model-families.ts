/** The kinds of models that we have run with sherpa-onnx, if only tiny ones: how each is told from the others, and what the addon has to be told. */
import type { OnnxMetadata } from './onnx-metadata.ts';
import type { ModelConfigOfKind } from 'sherpa-onnx-node';

/** What files are called in sherpa-onnx's model archives. `.int8`, `-epoch-99-avg-1` and the like may stand before the end. */
export const partNames = {
  encoder: /^(.*-)?encoder([-.].*)?\.onnx$/,
  decoder: /^(.*-)?decoder([-.].*)?\.onnx$/,
  joiner: /^(.*-)?joiner([-.].*)?\.onnx$/,
  model: /^(.*-)?model([-.].*)?\.onnx$/,
  preprocess: /^preprocess(\..*)?\.onnx$/,
  encode: /^encode(\..*)?\.onnx$/,
  uncachedDecode: /^uncached_decode(\..*)?\.onnx$/,
  cachedDecode: /^cached_decode(\..*)?\.onnx$/,
  encoderModel: /^encoder_model\.(ort|onnx)$/,
  mergedDecoder: /^decoder_model_merged\.(ort|onnx)$/,
  tokens: /^(.*-)?tokens\.txt$/,
};

export type Part = keyof typeof partNames;

/** What messages call a part. */
export function usualName(part: Part): string {
  if (part === 'tokens') return 'tokens.txt';
  const name = part.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return part === 'mergedDecoder' ? 'decoder_model_merged.ort' : `${name}.onnx`;
}

/** Absolute paths of those parts of a model that a folder holds. */
export type ModelFiles = Readonly<Partial<Record<Part, string>>>;

export interface ModelFamily {
  /** For people. */
  name: string;
  /** Its files. The metadata of the first one tells it from others with files of the same names. */
  parts: readonly Part[];
  /** Without it, the names of its files are enough. */
  isMeant?: IsMeant;
  configOf: (files: Required<ModelFiles>) => ModelConfigOfKind;
  /** What it says of times: when each word was said, when each sentence, or nothing. */
  times: 'words' | 'segments' | 'none';
  /** In its own codes. `whisper`: those of Whisper. Without it, it can't be told a language. */
  told?: 'whisper' | 'primary subtag';
  /** BCP 47 tags of those that all its models know, where their files don't say it. */
  languages?: readonly string[];
  /** The default language. Undefined: the model detects it, or knows one only. */
  unlessTold?: string;
  /** No chunk is longer: its answer would be cut off, or empty. */
  longestChunkMs?: number;
  /** An input of one of its files, with which chunks are not longer than this. */
  limitedBy?: { part: Part; input: string; longestChunkMs: number };
}

type IsMeant = (metadata: OnnxMetadata) => boolean;

const typeIs =
  (pattern: RegExp): IsMeant =>
  (metadata) =>
    pattern.test(metadata.get('model_type') ?? '');
const has =
  (...keys: string[]): IsMeant =>
  (metadata) =>
    keys.every((key) => metadata.has(key));

const oneFile = (name: string, isMeant: IsMeant, configOf: (model: string) => ModelConfigOfKind): ModelFamily => ({
  ...{ name, parts: ['model', 'tokens'], isMeant, times: 'words' },
  configOf: ({ model }) => configOf(model),
});

const encoderAndDecoder = ['encoder', 'decoder', 'tokens'] as const;

/** The first that fits is taken. */
export const modelFamilies: readonly ModelFamily[] = [
  {
    ...{ name: 'NeMo transducer (Parakeet, GigaAM)', isMeant: typeIs(/^EncDec/), times: 'words' },
    parts: ['encoder', 'decoder', 'joiner', 'tokens'],
    configOf: ({ encoder, decoder, joiner }) => ({
      transducer: { encoder, decoder, joiner },
      modelType: 'nemo_transducer',
    }),
  },
  {
    ...{ name: 'Whisper', parts: encoderAndDecoder, isMeant: typeIs(/^whisper/), times: 'segments', told: 'whisper' },
    configOf: ({ encoder, decoder }) => ({
      whisper: { encoder, decoder, language: '', task: 'transcribe', tailPaddings: -1, enableSegmentTimestamps: 1 },
    }),
  },
  {
    ...{ name: 'NeMo Canary', parts: encoderAndDecoder, isMeant: typeIs(/^EncDecMultiTaskModel$/), times: 'none' },
    ...{ told: 'primary subtag', unlessTold: 'en', languages: ['de', 'en', 'es', 'fr'] },
    configOf: ({ encoder, decoder }) => ({ canary: { encoder, decoder, srcLang: 'en', tgtLang: 'en', usePnc: 1 } }),
  },
  {
    ...oneFile('SenseVoice', typeIs(/^sense_voice/), (model) => ({
      senseVoice: { model, language: 'auto', useInverseTextNormalization: 1 },
    })),
    told: 'primary subtag',
  },
  oneFile('NeMo CTC (Parakeet, GigaAM)', typeIs(/^EncDec(CTC|HybridRNNTCTC)/), (model) => ({ nemoCtc: { model } })),
  oneFile('Zipformer CTC', typeIs(/^zipformer2_ctc$/), (model) => ({ zipformerCtc: { model } })),
  oneFile('FireRedASR CTC', typeIs(/^fire-red-asr-2-ctc$/), (model) => ({ fireRedAsrCtc: { model } })),
  oneFile('Dolphin', has('mean', 'invstd', 'vocab_size'), (model) => ({ dolphin: { model } })),
  {
    ...{ name: 'Moonshine', times: 'none' },
    parts: ['preprocess', 'encode', 'uncachedDecode', 'cachedDecode', 'tokens'],
    configOf: ({ preprocess: preprocessor, encode: encoder, uncachedDecode, cachedDecode }) => ({
      moonshine: { preprocessor, encoder, uncachedDecoder: uncachedDecode, cachedDecoder: cachedDecode },
    }),
  },
  {
    ...{ name: 'Moonshine 2', parts: ['encoderModel', 'mergedDecoder', 'tokens'], times: 'none' },
    // sherpa-onnx 1.13.8 gives a mask as long as the encoder's frames, where the model counts samples (384 for a frame):
    // beyond 384 frames (9.2 s) it fails (https://github.com/k2-fsa/sherpa-onnx/issues/3975).
    limitedBy: { part: 'mergedDecoder', input: 'encoder_attention_mask', longestChunkMs: 9_000 },
    configOf: ({ encoderModel: encoder, mergedDecoder }) => ({ moonshine: { encoder, mergedDecoder } }),
  },
];
