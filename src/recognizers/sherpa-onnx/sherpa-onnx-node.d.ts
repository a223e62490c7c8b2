/** What this project uses of sherpa-onnx-node, which brings no types. Times are seconds. */
declare module 'sherpa-onnx-node' {
  /** Paths of a model's files, and what it is told. */
  type KindConfig = Record<string, string | number>;

  /** One of these, for the kind of the model. */
  export interface ModelConfigOfKind extends Partial<Record<Kind, KindConfig>> {
    /** Which kind of transducer it is. */
    modelType?: string;
  }

  type Kind = 'transducer' | 'whisper' | 'canary' | 'moonshine' | 'senseVoice' | Ctc | 'dolphin';
  type Ctc = 'nemoCtc' | 'zipformerCtc' | 'fireRedAsrCtc';

  export interface OfflineModelConfig extends ModelConfigOfKind {
    tokens: string;
    numThreads: number;
    provider: 'cpu';
  }

  /** Times are seconds from the start of what was recognized. */
  export interface OfflineResult {
    /** `<|en|>`, `en`, or empty. */
    lang: string;
    text: string;
    tokens: string[];
    /** When each token begins; empty for models that don't say. */
    timestamps: number[];
    durations: number[];
    ys_log_probs: number[];
    /** When each sentence begins, and how long it lasts; absent for models that don't say. */
    segment_timestamps?: number[];
    segment_durations?: number[];
    segment_texts?: string[];
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

  export interface OfflineSpeakerDiarizationConfig {
    segmentation: { pyannote: { model: string }; numThreads: number; provider: 'cpu' };
    embedding: { model: string; numThreads: number; provider: 'cpu' };
    /** With `numClusters` above 0, so many speakers. Otherwise as many as differ by more than `threshold`. */
    clustering: { numClusters: number; threshold: number };
    minDurationOn: number;
    minDurationOff: number;
  }

  export class OfflineSpeakerDiarization {
    constructor(config: OfflineSpeakerDiarizationConfig);
    readonly sampleRate: number;
    /** @returns by start; turns of several speakers may overlap */
    process(samples: Float32Array): { start: number; end: number; speaker: number }[];
  }

  interface OnlineStream extends OfflineStream {
    inputFinished(): void;
  }

  export class SpeakerEmbeddingExtractor {
    constructor(config: OfflineSpeakerDiarizationConfig['embedding']);
    createStream(): OnlineStream;
    /** @param enableExternalBuffer whether the answer lies in memory of the addon */
    compute(stream: OnlineStream, enableExternalBuffer: boolean): Float32Array;
  }

  export interface VadConfig {
    sileroVad: {
      model: string;
      /** From 0 to 1: what is at least so likely to be a voice is one. */
      threshold: number;
      minSpeechDuration: number;
      minSilenceDuration: number;
      /** In samples. */
      windowSize: number;
      /** Of longer speech, only what is surer counts. */
      maxSpeechDuration: number;
    };
    sampleRate: number;
    numThreads: number;
    provider: 'cpu';
  }

  export class Vad {
    constructor(config: VadConfig, bufferSizeInSeconds: number);
    /** @param samples as many as a window has */
    acceptWaveform(samples: Float32Array): void;
    /** The end of the audio. */
    flush(): void;
    isEmpty(): boolean;
    /** The first stretch of speech that is not taken yet; `start` in samples since `reset`. */
    front(enableExternalBuffer: boolean): { start: number; samples: Float32Array };
    pop(): void;
    reset(): void;
  }
}
