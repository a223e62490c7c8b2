import type { Silence } from '../audio/silences.ts';

/** Times are ms from the start of the audio. */
export interface Word {
  startMs: number;
  endMs: number;
  text: string;
  /** 0 to 1, only where the recognizer gives it. */
  confidence?: number;
}

/** A stretch of speech that can be read as one caption. */
export interface Segment {
  /** Position in the transcript, from 0. */
  index: number;
  startMs: number;
  endMs: number;
  text: string;
  /** 0 to 1, only where the recognizer gives it. */
  confidence?: number;
  /** `S1`, `S2`, …, only where the recognizer tells speakers apart. */
  speaker?: string;
  /** Where it was said, from 1, only where channels are recognized separately. */
  channel?: number;
  words: Word[];
}

export interface Transcript {
  /** BCP 47, such as `en-US`. */
  language?: string;
  /** In order of time; empty when nothing was said. */
  segments: Segment[];
}

/** A raw file of 16 kHz mono s16le samples without header. Its name must not end in `.wav` or `.mp3`. */
export interface DecodedAudio {
  file: string;
  durationMs: number;
  /** Where it may be cut, in order. */
  silences: Silence[];
}

export interface RecognizeOptions {
  /** Kills whatever is running; `recognize` then rejects with the signal's reason. */
  signal: AbortSignal;
  /** Gets whole percents below 100, each larger than the last. */
  onProgress?: (percent: number) => void;
}

/** Turns decoded audio into a transcript. Knows no row and no job. */
export interface Recognizer {
  readonly name: string;
  /** @throws {RecognizerError} it can't run here; the message says what to install */
  check(): Promise<void>;
  /**
   * @throws {RecognizerError}
   * @throws the abort reason of `options.signal`
   */
  recognize(audio: DecodedAudio, options: RecognizeOptions): Promise<Transcript>;
  /** Ends the processes that are kept for the next recording. */
  close(): Promise<void>;
}

export type RecognizerErrorCode = 'recognizer_error' | 'timed_out';

export class RecognizerError extends Error {
  override readonly name = 'RecognizerError';
  readonly code: RecognizerErrorCode;
  /** Whether another attempt at the same audio may succeed. */
  readonly retryable: boolean;

  constructor(code: RecognizerErrorCode, message: string, options: { retryable: boolean; cause?: unknown }) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.retryable = options.retryable;
  }
}
