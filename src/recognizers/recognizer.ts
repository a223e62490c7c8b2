import type { Segment } from '../captions/segment.ts';
import type { Span } from '../audio/chunks.ts';
import type { ServerLoad } from '../ops/speech-server.ts';
import type { TraceSpan } from '../tracing/tracing.ts';

export interface Transcript {
  /** BCP 47, such as `en-US`. */
  language?: string | undefined;
  /** In order of time; empty when nothing was said. */
  segments: Segment[];
}

/** A raw file of 16 kHz mono s16le samples without header. Its name must not end in `.wav` or `.mp3`. */
export interface DecodedAudio {
  file: string;
  durationMs: number;
  /** Where it may be cut, in order. */
  silences: Span[];
  /** Speech, in order. What is far from it need not be recognized. Undefined: unknown. */
  speech?: readonly Span[];
  /** Where another person goes on, in order: there it is cut in any case. */
  changes?: readonly number[];
}

/** What is known of a recording before it is heard. */
export interface Hints {
  /** What is spoken, as a canonical BCP 47 tag. Undefined: not set. */
  language?: string | undefined;
  /** Nobody said it of this recording: the operator expects it of most. So it may be in another language. */
  isLanguageExpected?: boolean;
  /** How many people speak. */
  speakers?: number | undefined;
  /** Words that are likely to be said. */
  keyterms?: readonly string[] | undefined;
}

export interface RecognizeOptions extends Hints {
  /** Kills whatever is running; `recognize` then rejects with the signal's reason. */
  signal: AbortSignal;
  /** Whose recording it is. Owners take turns at what is shared. */
  owner?: string;
  /** To which the recording's chunks belong. */
  span?: TraceSpan | undefined;
  /** Gets whole percents below 100, each larger than the last. */
  onProgress?: (percent: number) => void;
  /** Called with each stretch that may lack words, or have wrong ones: the client gets it as a warning. */
  onUncertain?: ((stretch: UncertainStretch) => void) | undefined;
}

/** Times are ms from the start of the recording. */
export interface UncertainStretch extends Span {
  /**
   * There is a voice and no word, although it was recognized again; the same words came on and on; the recognizer itself
   * doubts its words; or it refused them, so that they were not recognized.
   */
  why: 'no words' | 'a loop' | 'doubtful words' | 'refused';
}

/** Turns decoded audio into a transcript. Knows no row and no job. */
export interface Recognizer {
  readonly name: string;
  /**
   * @param language the default language (BCP 47)
   * @throws {LanguageNotKnown}
   * @throws {RecognizerError} it can't run here; the message says what to install
   */
  check(language?: string): Promise<void>;
  /** Those that it knows, once it was checked (BCP 47). Undefined: unknown. */
  languages?(): Promise<readonly string[] | undefined>;
  /**
   * What the operator should know although it takes jobs, such as that its server is away: a sentence without its full
   * stop. It waits for nothing, so it tells what was seen last.
   */
  notice?(): string | undefined;
  /**
   * How many recordings are worth holding at once, where a server does the work. It changes
   * with what the server shows.
   */
  jobsAtOnce?(): number;
  load?(): ServerLoad;
  /**
   * `tell` is called when its server stays busy. Recordings wait for room; `whyAway` tells
   * when there is some.
   */
  onBusy?(tell: (why: Away) => void): void;
  /**
   * Asks a server that seemed to be away, or refused everything, when it was asked last. Nothing else is waited for.
   * @returns what is still wrong; undefined: none known
   */
  whyAway?(): Promise<Away | undefined>;
  /**
   * Hints that it can't use are ignored, except for the language.
   * @throws {LanguageNotKnown}
   * @throws {RecognizerError}
   * @throws the abort reason of `options.signal`
   */
  recognize(audio: DecodedAudio, options: RecognizeOptions): Promise<Transcript>;
  /** Ends the processes that are kept for the next recording. */
  close(): Promise<void>;
}

/** Why a server accepts no requests. */
export interface Away {
  /**
   * `server`: it is away, or broken. `busy`: it has no room. `refused`: it refuses everything, because of the key, the
   * bill, the model or the address.
   */
  reason: 'server' | 'busy' | 'refused';
  /** A sentence without its full stop. */
  message: string;
}

export type RecognizerErrorCode = 'recognizer_error' | 'timed_out' | 'language_not_supported';

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

/** The recognizer failed at one chunk, and lives on. In shorter chunks it may hear it. */
export class ChunkNotTranscribed extends RecognizerError {
  constructor(message: string) {
    super('recognizer_error', message, { retryable: true });
  }
}

/** A server failed at one chunk at each try, while it takes others. Some do so without speech. */
export class ChunkRefused extends RecognizerError {
  constructor(message: string) {
    super('recognizer_error', message, { retryable: true });
  }
}

/** The recognizer would write nonsense: it does not know the language that is spoken. */
export class LanguageNotKnown extends RecognizerError {
  /** BCP 47; undefined: unknown. */
  readonly known: readonly string[] | undefined;

  constructor(language: string, known: readonly string[] | undefined) {
    const others = known === undefined ? '' : `; it knows ${known.join(', ')}`;
    super('language_not_supported', `the recognizer does not know the language ${language}${others}`, {
      retryable: false,
    });
    this.known = known;
  }
}
