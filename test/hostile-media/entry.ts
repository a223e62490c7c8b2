/** One file of the corpus: its name, how it is made, and what must come of it. */
import type { Bench } from './bench.ts';

export type Outcome =
  | { answer: number; code: string }
  | { session: 'completed'; durationMs: number; toleranceMs: number }
  | { session: 'failed'; code: string };

export interface HostileFile {
  /** Those of a kind are sent together. */
  kind: string;
  /** As the client sends it; bytes where it is no UTF-8. */
  name: string | Buffer;
  /** How it is made, in words. */
  made: string;
  make: (bench: Bench) => Promise<Buffer> | Buffer;
  /** The part's Content-Type. */
  declaredType?: string;
  outcome: Outcome;
}

/** Refused at the upload. */
export const refused = (answer: number, code: string): Outcome => ({ answer, code });

export const unreadable = refused(415, 'unsupported_media');

export const silentPictures = refused(422, 'no_audio_track');

/** Accepted, and decoded to so many ms. */
export const completes = (durationMs: number, toleranceMs = 60): Outcome => {
  return { session: 'completed', durationMs, toleranceMs };
};

/** Accepted, and found out by the worker. */
export const fails = (code: string): Outcome => ({ session: 'failed', code });
