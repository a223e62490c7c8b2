import type { OfflineModelConfig, OfflineResult, OfflineSpeakerDiarizationConfig, VadConfig } from 'sherpa-onnx-node';

/** What a child is started for, with the models that it loads. */
export type ChildWork =
  { recognition: OfflineModelConfig } | { diarization: OfflineSpeakerDiarizationConfig } | { voices: VadConfig };

/** A line to a child: which part of a file of 16 kHz mono s16le to hear, and what is known of it. */
export interface PieceRequest {
  /** Undefined: a tone. */
  file: string | undefined;
  fromMs: number;
  toMs: number;
  /** What is spoken, in the model's own code. Undefined: the model finds out, if it can. */
  language?: string | undefined;
  /** Digital silence that is put before and after what is heard. */
  silenceMs?: number;
}

/**
 * What a child writes to standard error after each piece, before its answer: what the addon wrote about it comes before.
 * The addon writes no vertical tab, and at the end of a message about a crash it does not show.
 */
export const endOfComplaint = '\v\n';

/** What the addon wrote to standard error about a piece. */
export interface Complaint {
  complaint: string;
}

/** A line from a child: first that it has loaded its models, then what it heard of each piece. */
export type ChildAnswer = 'ready' | PieceResult | WindowResult | VoicesResult;

/** Times are seconds from the start of the piece. */
export interface PieceResult extends OfflineResult {
  /** Whether there is much to be heard in it, speech or not, and no word was. */
  lacksWords: boolean;
}

/** Who speaks in a window of a recording. */
export interface WindowResult {
  speakers: {
    /** Starts and ends in ms from the start of the window, in order. */
    turns: [startMs: number, endMs: number][];
    /** What the voice is like: 32-bit floats, little endian, as base64. */
    embedding: string;
  }[];
}

/** Where somebody speaks in a window of a recording: starts and ends in ms from the start of the window, in order. */
export interface VoicesResult {
  speech: [startMs: number, endMs: number][];
}
