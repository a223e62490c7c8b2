import type { KeyOwner } from '../../db/api-keys.ts';
import type { Foundation } from '../context.ts';
import type { SessionReads } from './reads/session-reads.ts';
import type { UploadReads } from './uploads/reads.ts';
import type { TranscriptBodies } from './reads/transcript-bodies.ts';
import type { SessionWaits } from './reads/waits.ts';

/** Who sends a request: the owner of the API key, with the limits in force. */
export type Principal = KeyOwner;

/** An upload that was received whole, not yet anybody's session. */
export interface UploadedFile {
  /** A temporary file on the file system of the audio store; of a repeated upload nothing is kept. */
  path: string | undefined;
  sizeBytes: number;
  /** As the client sent it; never a path of ours. */
  originalName: string;
  /** SHA-256 of the bytes; only when an Idempotency-Key asks for it. */
  sha256: Buffer | undefined;
  /** Resolves when the file is on disk (fsync): not before may anybody be told that it was accepted. */
  flushed: Promise<void>;
}

/** What handlers get. */
export interface Context extends Foundation {
  sessions: SessionReads;
  uploads: UploadReads;
  waits: SessionWaits;
  transcriptBodies: TranscriptBodies;
}
