import type { OfflineResult } from 'sherpa-onnx-node';

/** A line to a child: what to recognize, from a file of 16 kHz mono s16le. */
export interface PieceRequest {
  file: string;
  fromMs: number;
  toMs: number;
}

/** A line from a child: that it has loaded its model, and then what it heard of each piece. */
export type PieceAnswer = 'ready' | PieceResult;

export type PieceResult = Pick<OfflineResult, 'lang' | 'text' | 'tokens' | 'timestamps' | 'durations' | 'ys_log_probs'>;
