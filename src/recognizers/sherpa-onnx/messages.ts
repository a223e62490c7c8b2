import type { OfflineModelConfig, OfflineResult, OfflineSpeakerDiarizationConfig, VadConfig } from 'sherpa-onnx-node';

/** What a child is started for, with the models that it loads. */
export type ChildWork =
  { recognition: OfflineModelConfig } | { diarization: OfflineSpeakerDiarizationConfig } | { voices: VadConfig };

/** A line to a child: which part of a file of 16 kHz mono s16le to hear, and what is known of it. */
export interface ChunkRequest {
  file: string;
  fromMs: number;
  toMs: number;
  /** What is spoken, in the model's own code. Undefined: the model finds out, if it can. */
  language?: string | undefined;
  /** Digital silence that is put before and after what is heard. */
  silenceMs?: number;
}

/** Begins a line of a child's own, which the addon's messages stand between. */
export const answerMark = '\v';

/** What the addon wrote about a chunk. */
export interface Complaint {
  complaint: string;
}

/** What a child answers: first that it has loaded its models, then what it recognized of each chunk. */
export type ChildAnswer = 'ready' | OfflineResult | WindowResult | VoicesResult;

/** Who speaks in a window of a recording. */
export interface WindowResult {
  speakers: {
    /** Starts and ends in ms from the start of the window, in order. */
    turns: [startMs: number, endMs: number][];
    /** What the voice is like: 32-bit floats, little endian, as base64. */
    embedding: string;
  }[];
}

/** Speech in a window of a recording: starts and ends in ms from the start of the window, in order. */
export interface VoicesResult {
  speech: [startMs: number, endMs: number][];
}
