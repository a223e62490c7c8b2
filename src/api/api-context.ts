import type { KeyOwner } from '../../db/accounts/api-keys.ts';
import type { Foundation } from '../sessions/foundation.ts';
import type { SessionSearch } from './reads/search.ts';
import type { SessionReads } from './reads/session-reads.ts';
import type { UploadMeasurements } from './uploads/measurement.ts';
import type { UploadReads } from './uploads/reads.ts';
import type { TranscriptBodies } from './reads/transcript-bodies.ts';
import type { SessionWaits } from './reads/waits.ts';

/** Who sends a request: the owner of the API key, with the account's limits. */
export type Principal = KeyOwner;

/** An upload that was received whole and belongs to no session yet. */
export interface UploadedFile {
  /**
   * A file of the spool. Undefined for a repeated upload, whose file is not kept.
   */
  path: string | undefined;
  sizeBytes: number;
  /** The file's name as the client sent it. Never use it as a path. */
  originalName: string;
  /** SHA-256 of the bytes; only when an Idempotency-Key asks for it. */
  sha256: Buffer | undefined;
  /** Resolves when the file is on disk (fsync). No client may be told before that the upload was accepted. */
  flushed: Promise<void>;
}

/** What handlers get. */
export interface Context extends Foundation {
  sessions: SessionReads;
  search: SessionSearch;
  uploads: UploadReads;
  measurements: UploadMeasurements;
  waits: SessionWaits;
  transcriptBodies: TranscriptBodies;
}
