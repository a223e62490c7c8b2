/** A recognizer that does what a test says, and remembers what was asked of it. */
import { basename } from 'node:path';
import type { DecodedAudio, RecognizeOptions, Recognizer, Transcript } from '../../../src/recognizers/recognizer.ts';

export interface Call {
  accountId: string;
  sessionId: string;
  /** How many times this session was recognized before. */
  earlier: number;
  durationMs: number;
  options: RecognizeOptions;
}

export type Script = (call: Call) => Promise<Transcript>;

export class ScriptedRecognizer implements Recognizer {
  readonly name = 'scripted';
  readonly calls: Call[] = [];
  /** The largest number of recognitions that ran at once, by account. */
  readonly peaks = new Map<string, number>();
  readonly #running = new Map<string, number>();
  readonly #script: Script;

  constructor(script: Script = async () => says('hello world')) {
    this.#script = script;
  }

  async check(): Promise<void> {}
  async close(): Promise<void> {}

  async recognize(audio: DecodedAudio, options: RecognizeOptions): Promise<Transcript> {
    // The worker's name for decoded audio: `<account>.<session>.<attempt>`.
    const [accountId = '', sessionId = ''] = basename(audio.file).split('.');
    const call = { accountId, sessionId, earlier: this.of(sessionId), durationMs: audio.durationMs, options };
    this.calls.push(call);
    const running = (this.#running.get(accountId) ?? 0) + 1;
    this.#running.set(accountId, running);
    this.peaks.set(accountId, Math.max(running, this.peaks.get(accountId) ?? 0));
    try {
      options.signal.throwIfAborted();
      return await this.#script(call);
    } finally {
      this.#running.set(accountId, this.#running.get(accountId)! - 1);
    }
  }

  /** How many times a session was recognized. */
  of(sessionId: string): number {
    return this.calls.filter((call) => call.sessionId === sessionId).length;
  }

  running(accountId: string): number {
    return this.#running.get(accountId) ?? 0;
  }
}

/** A transcript of one segment; a word takes 100 ms. */
export function says(text: string): Transcript {
  const words = text.split(' ').map((word, i) => ({ startMs: i * 100, endMs: i * 100 + 100, text: word }));
  return { language: 'en-US', segments: [{ index: 0, startMs: 0, endMs: words.length * 100, text, words }] };
}

/** Something that recognitions wait at until the test opens it. */
export interface Gate {
  open(): void;
  /** Rejects as `recognize` has to when its signal aborts. */
  passed(signal: AbortSignal): Promise<void>;
}

export function gate(): Gate {
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    open: resolve,
    passed(signal) {
      const aborted = Promise.withResolvers<void>();
      const abort = () => aborted.reject(signal.reason);
      if (signal.aborted) abort();
      signal.addEventListener('abort', abort, { once: true });
      return Promise.race([promise, aborted.promise]).finally(() => signal.removeEventListener('abort', abort));
    },
  };
}
