/**
 * The typed door between the app and the handlers: both input and answer have types. A missing handler does not
 * compile.
 */
import type { Answer, Form, OperationId, Parameters, PublicOperation } from '../../codegen/operations.ts';
import type { KeyOwner } from '../../db/accounts/api-keys.ts';
import type { AppContext } from '../sessions/app-context.ts';
import type { SessionSearch } from './reads/search.ts';
import type { SessionReads } from './reads/session-reads.ts';
import type { UploadMeasurements } from './uploads/measurement.ts';
import type { TranscriptBodies } from './reads/transcripts.ts';
import type { SessionWaits } from './reads/waits.ts';

type LowerCased<Headers> = { [Name in keyof Headers as Lowercase<Name & string>]: Headers[Name] };

export type Input<Id extends OperationId> = {
  path: Parameters<Id, 'path'>;
  /** Checked, coerced and filled with the defaults of the contract. */
  query: Parameters<Id, 'query'>;
  headers: LowerCased<Parameters<Id, 'header'>> & { accept?: string };
} & (Id extends PublicOperation ? unknown : { principal: Principal }) &
  ([Form<Id>] extends [never] ? ReadingInput : UploadInput<Id>);

export interface ReadingInput {
  /** Aborts when the client leaves, when the server stops, and with an `ApiError` when the key has lost its right. */
  held: () => AbortSignal;
}

interface UploadInput<Id extends OperationId> {
  body: Omit<Form<Id>, 'file'>;
  file: UploadedFile;
  /** The trace to which the session belongs (W3C Trace Context). */
  traceparent: string | undefined;
  /** Aborts when the client leaves. */
  signal: AbortSignal;
}

export type Handler<Id extends OperationId> = (input: Input<Id>, ctx: Context) => Promise<Answer<Id>>;
export type Handlers = { [Id in OperationId]: Handler<Id> };

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

export interface Context extends AppContext {
  sessions: SessionReads;
  search: SessionSearch;
  measurements: UploadMeasurements;
  waits: SessionWaits;
  transcriptBodies: TranscriptBodies;
}
