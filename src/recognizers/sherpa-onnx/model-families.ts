/** The kinds of models that sherpa-onnx runs: how each is told from the others, and what the addon has to be told. */
import type { OnnxMetadata } from './onnx-metadata.ts';
import type { ModelFiles, Part } from './model-files.ts';
import type { ModelConfigOfKind } from 'sherpa-onnx-node';

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
  /** The language that it hears when nobody says one. Without it, the model finds out, or knows one language only. */
  unlessTold?: string;
  /** No piece is longer: its answer would be cut off, or empty. */
  longestPieceMs?: number;
  /** An input of one of its files, with which pieces are not longer than this. */
  limitedBy?: { part: Part; input: string; longestPieceMs: number };
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

const transducer = (name: string, isMeant: IsMeant, modelType: string): ModelFamily => ({
  ...{ name, parts: ['encoder', 'decoder', 'joiner', 'tokens'], isMeant, times: 'words' },
  configOf: ({ encoder, decoder, joiner }) => ({ transducer: { encoder, decoder, joiner }, modelType }),
});

const encoderAndDecoder = ['encoder', 'decoder', 'tokens'] as const;

/** The first that fits is taken. */
export const modelFamilies: readonly ModelFamily[] = [
  transducer('NeMo transducer (Parakeet, GigaAM)', typeIs(/^EncDec/), 'nemo_transducer'),
  transducer('Zipformer transducer', typeIs(/^(zipformer2?|conformer|lstm)$/), 'transducer'),
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
    ...{ name: 'Cohere Transcribe', parts: encoderAndDecoder, isMeant: typeIs(/cohere-transcribe/), times: 'none' },
    ...{ told: 'primary subtag', unlessTold: 'en' },
    languages: 'ar de el en es fr it ja ko nl pl pt vi zh'.split(' '),
    configOf: ({ encoder, decoder }) => ({
      cohereTranscribe: { encoder, decoder, language: 'en', usePunct: 1, useItn: 1 },
    }),
  },
  {
    ...{ name: 'FireRedASR', parts: encoderAndDecoder, isMeant: has('cmvn_mean', 'num_decoder_layers'), times: 'none' },
    configOf: ({ encoder, decoder }) => ({ fireRedAsr: { encoder, decoder } }),
  },
  {
    ...oneFile('SenseVoice', typeIs(/^sense_voice/), (model) => ({
      senseVoice: { model, language: 'auto', useInverseTextNormalization: 1 },
    })),
    told: 'primary subtag',
  },
  oneFile('NeMo CTC (Parakeet, GigaAM)', typeIs(/^EncDec(CTC|HybridRNNTCTC)/), (model) => ({ nemoCtc: { model } })),
  oneFile('Zipformer CTC', typeIs(/^zipformer2_ctc$/), (model) => ({ zipformerCtc: { model } })),
  oneFile('WeNet CTC', typeIs(/^wenet_ctc$/), (model) => ({ wenetCtc: { model } })),
  oneFile('TeleSpeech CTC', typeIs(/^telespeech_ctc$/), (teleSpeechCtc) => ({ teleSpeechCtc })),
  oneFile('Omnilingual ASR', typeIs(/^omnilingual-asr/), (model) => ({ omnilingual: { model } })),
  oneFile('MedASR', typeIs(/^medasr_ctc$/), (model) => ({ medasr: { model } })),
  oneFile('FireRedASR CTC', typeIs(/^fire-red-asr-2-ctc$/), (model) => ({ fireRedAsrCtc: { model } })),
  oneFile('Dolphin', has('mean', 'invstd', 'vocab_size'), (model) => ({ dolphin: { model } })),
  { ...oneFile('Paraformer', typeIs(/^paraformer$/), (model) => ({ paraformer: { model } })), times: 'none' },
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
    limitedBy: { part: 'mergedDecoder', input: 'encoder_attention_mask', longestPieceMs: 9_000 },
    configOf: ({ encoderModel: encoder, mergedDecoder }) => ({ moonshine: { encoder, mergedDecoder } }),
  },
  {
    ...{ name: 'Qwen3-ASR', parts: ['convFrontend', 'encoder', 'decoder', 'tokenizer'], times: 'none' },
    // It has room for 512 tokens of sound and text; a second of sound takes 13 of them.
    ...{ longestPieceMs: 18_000 },
    // As its makers list them.
    languages: 'ar cs da de el en es fa fi fil fr hi hu id it ja ko mk ms nl pl pt ro ru sv th tr vi yue zh'.split(' '),
    configOf: ({ convFrontend, encoder, decoder, tokenizer }) => ({
      qwen3Asr: { convFrontend, encoder, decoder, tokenizer, maxNewTokens: 240 },
    }),
  },
  {
    // Its times of tokens are made up: they share the time of the piece.
    ...{ name: 'Fun-ASR-Nano', parts: ['encoderAdaptor', 'llm', 'embedding', 'tokenizer'], times: 'none' },
    configOf: ({ encoderAdaptor, llm, embedding, tokenizer }) => ({
      funasrNano: { encoderAdaptor, llm, embedding, tokenizer },
    }),
  },
];
