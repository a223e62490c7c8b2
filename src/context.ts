/** What handlers and the worker work with. Made once per process, passed, never imported. */
import type { Db } from '../db/database.ts';
import type { KeyOwner } from '../db/api-keys.ts';
import type { AudioStore } from './audio-store.ts';
import type { Config } from './config.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Queue } from './queue.ts';
import type { SessionReads } from './session-reads.ts';
import type { SessionWaits } from './session-waits.ts';
import type { TranscriptBodies } from './transcript-bodies.ts';

/** Who sends a request: the owner of the API key, with the limits in force. */
export type Principal = KeyOwner;

/** An upload that was received whole, not yet anybody's session. */
export interface UploadedFile {
  /** A temporary file on the file system of the audio store. */
  path: string;
  sizeBytes: number;
  /** As the client sent it; never a path of ours. */
  originalName: string;
  /** SHA-256 of the bytes; only when an Idempotency-Key asks for it. */
  sha256: Buffer | undefined;
  /** Resolves when the file is on disk (fsync): not before may anybody be told that it was accepted. */
  flushed: Promise<void>;
}

/** What both halves need. */
export interface Foundation {
  config: Config;
  log: Log;
  db: Db;
  queue: Queue;
  audioStore: AudioStore;
  metrics: Metrics;
}

/** What handlers get. */
export interface Context extends Foundation {
  sessions: SessionReads;
  waits: SessionWaits;
  transcriptBodies: TranscriptBodies;
}
