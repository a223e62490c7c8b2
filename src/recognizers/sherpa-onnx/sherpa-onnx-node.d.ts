/** What this project uses of sherpa-onnx-node, which brings no types. Times are seconds. */
declare module 'sherpa-onnx-node' {
  export interface OfflineModelConfig {
    transducer?: { encoder: string; decoder: string; joiner: string };
    whisper?: { encoder: string; decoder: string; language: string; task: 'transcribe'; tailPaddings: number };
    moonshine?: { preprocessor: string; encoder: string; uncachedDecoder: string; cachedDecoder: string };
    senseVoice?: { model: string; language: string; useInverseTextNormalization: number };
    tokens: string;
    modelType?: string;
    numThreads: number;
    provider: 'cpu';
  }

  export interface OfflineResult {
    /** `<|en|>`, `en`, or empty. */
    lang: string;
    text: string;
    tokens: string[];
    /** When each token begins; empty for models that don't say. */
    timestamps: number[];
    durations: number[];
    ys_log_probs: number[];
  }

  interface OfflineStream {
    acceptWaveform(wave: { samples: Float32Array; sampleRate: number }): void;
  }

  export interface OfflineRecognizerConfig {
    featConfig: { sampleRate: number; featureDim: number };
    modelConfig: OfflineModelConfig;
  }

  export class OfflineRecognizer {
    constructor(config: OfflineRecognizerConfig);
    /** For the language of Whisper and SenseVoice; the models stay loaded. */
    setConfig(config: OfflineRecognizerConfig): void;
    createStream(): OfflineStream;
    decode(stream: OfflineStream): void;
    getResult(stream: OfflineStream): OfflineResult;
  }

  interface SpeakerEmbeddingExtractorConfig {
    model: string;
    numThreads: number;
    provider: 'cpu';
  }

  export interface OfflineSpeakerDiarizationConfig {
    segmentation: { pyannote: { model: string }; numThreads: number; provider: 'cpu' };
    embedding: SpeakerEmbeddingExtractorConfig;
    /** With `numClusters` above 0, so many speakers. Otherwise as many as differ by more than `threshold`. */
    clustering: { numClusters: number; threshold: number };
    minDurationOn: number;
    minDurationOff: number;
  }

  export class OfflineSpeakerDiarization {
    constructor(config: OfflineSpeakerDiarizationConfig);
    readonly sampleRate: number;
    setConfig(config: Pick<OfflineSpeakerDiarizationConfig, 'clustering'>): void;
    /** @returns by start; turns of several speakers may overlap */
    process(samples: Float32Array): { start: number; end: number; speaker: number }[];
  }

  interface OnlineStream extends OfflineStream {
    inputFinished(): void;
  }

  export class SpeakerEmbeddingExtractor {
    constructor(config: SpeakerEmbeddingExtractorConfig);
    createStream(): OnlineStream;
    /** @param enableExternalBuffer whether the answer lies in memory of the addon */
    compute(stream: OnlineStream, enableExternalBuffer: boolean): Float32Array;
  }
}
