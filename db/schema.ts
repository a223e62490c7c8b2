/**
 * The tables as Kysely sees them. Times are read as text (`2026-11-20 09:30:00.123456+00`, session time zone UTC), and
 * `bigint` as a number that is checked to be a safe integer. `connection/values.ts` parses both.
 */
import type { ColumnType, Generated } from 'kysely';

export type SessionStatus = 'queued' | 'processing' | 'completed' | 'failed';
/** Why a session failed: the contract's `SessionError.code`. */
export type FailureCode =
  | 'unsupported_media'
  | 'no_audio_track'
  | 'audio_too_long'
  | 'insufficient_balance'
  | 'audio_unreadable'
  | 'recognizer_error'
  | 'language_not_supported'
  | 'timed_out'
  | 'canceled'
  | 'too_many_channels';
export type Scope = 'read' | 'write';
export type LedgerKind = 'credit' | 'correction' | 'charge';

/** A time read as text and written as an RFC 3339 string. */
type Time = ColumnType<string, string, string>;
type TimeOrNull = ColumnType<string | null, string | null | undefined, string | null>;
type CodeOrNull = ColumnType<FailureCode | null, FailureCode | null | undefined, FailureCode | null>;
type CreatedAt = ColumnType<string, string | undefined, never>;

export interface Limits {
  requests_per_minute: number;
  queued_sessions: number;
  running_jobs: number;
  max_upload_bytes: number;
  max_audio_ms: number;
}

export type LimitOverrides = { [Name in keyof Limits]: number | null };
type NewLimitOverrides = {
  [Name in keyof Limits]: ColumnType<number | null, number | null | undefined, number | null>;
};

export interface PlanTable extends Limits {
  plan: string;
  eligible: boolean;
}

export interface AccountTable extends NewLimitOverrides {
  id: string;
  name: string;
  plan: string;
  suspended_at: TimeOrNull;
  deleted_at: TimeOrNull;
  balance_ms: Generated<number>;
  reserved_ms: Generated<number>;
  /** Its sessions are deleted after so many days, unless their upload says otherwise. Null: they are kept. */
  retention_days: ColumnType<number | null, number | null | undefined, number | null>;
  created_at: CreatedAt;
}

export interface ApiKeyTable {
  id: string;
  account_id: string;
  digest: Buffer;
  prefix: string;
  last_four: string;
  label: string | null;
  scopes: Scope[];
  expires_at: TimeOrNull;
  revoked_at: TimeOrNull;
  created_at: CreatedAt;
}

export interface SessionTable {
  account_id: string;
  id: string;
  /** The job id that the client was given. It stays the same when the session goes back to the queue. */
  job_id: string;
  /** The pg-boss job that may work on the session now. */
  queue_job_id: string;
  status: SessionStatus;
  title: string;
  /** The client's own name for it. */
  reference: ColumnType<string | null, string | null | undefined, never>;
  created_at: CreatedAt;
  started_at: TimeOrNull;
  completed_at: TimeOrNull;
  duration_ms: number | null;
  /**
   * The duration as measured at the upload, if it could be measured. `duration_ms` is the same until the audio is
   * decoded.
   */
  measured_ms: ColumnType<number | null, number | null | undefined, never>;
  /** Whether the audio was decoded twice to the same length, much shorter than measured. Then it is damaged. */
  confirmed_short: Generated<boolean>;
  /**
   * The longest audio that the account could upload when this upload was accepted. A later, lower limit does not refuse
   * what was accepted.
   */
  max_audio_ms: number;
  /** BCP 47: the language that the upload asked for; else, once completed, that of the transcript. */
  language: ColumnType<string | null, string | null | undefined, string | null>;
  /** How many people speak, as the upload says. */
  speakers: ColumnType<number | null, number | null | undefined, never>;
  /** Words that are likely to be said, as the upload says. */
  keyterms: ColumnType<string[] | null, string[] | null | undefined, never>;
  progress: ColumnType<number | null, number | null | undefined, number | null>;
  error_code: CodeOrNull;
  /** With `language_not_supported`: the languages that the recognizer knows, separated by commas, if it says so. */
  known_languages: ColumnType<string | null, never, string | null>;
  /** Once completed: what was charged, as in the ledger; 0 where nothing was said. */
  charged_ms: ColumnType<number | null, never, number>;
  /** How much of the balance is reserved for this session; 0 once it is final. */
  reserved_ms: number;
  /** Where it stands in the order in which accounts take turns; see `start-tag.ts`. */
  start_tag: Generated<number>;
  /** Counts every claim and never goes back. It keeps a worker that lost its claim from changing the session. */
  attempt: Generated<number>;
  /** Goes down with every claim, and up again when the attempt is given back. */
  attempts_left: number;
  /** How many attempts were given back although the recording itself may be why they ended. */
  infrastructure_retries: Generated<number>;
  /** Why the last attempt failed, while others are left. */
  last_error_code: CodeOrNull;
  /** Version of the stored transcript; a part of its ETag. */
  transcript_version: ColumnType<string | null, string | null | undefined, string | null>;
  /** How long the uploaded file is; null for what was uploaded before this was stored. */
  audio_bytes: ColumnType<number | null, number | null | undefined, never>;
  audio_deleted_at: TimeOrNull;
  /** When the session is to be deleted. Null: it is kept. */
  delete_at: ColumnType<string | null, string | null | undefined, never>;
  separate_channels: ColumnType<boolean, boolean | undefined, never>;
  /** How many channels are transcribed separately; 1 for the mix of all. */
  heard_channels: ColumnType<number, number | undefined, never>;
  /** Once completed: the list of warnings as JSON text. Null: there are none. */
  warnings: ColumnType<string | null, never, string | null>;
  /** W3C Trace Context of the upload's request. */
  traceparent: ColumnType<string | null, string | null | undefined, never>;
}

export interface TranscriptTable {
  account_id: string;
  session_id: string;
  /** The segments without their words, as the API answers them. */
  segments: ColumnType<string, string, never>;
  /** For each segment the array of its words. */
  words: ColumnType<string, string, never>;
}

export interface LedgerTable {
  account_id: string;
  id: string;
  kind: LedgerKind;
  amount_ms: number;
  session_id: string | null;
  reason: string | null;
  reference: string | null;
  created_at: CreatedAt;
}

export interface IdempotencyTable {
  account_id: string;
  key: string;
  fingerprint: Buffer;
  session_id: string;
  job_id: string;
  created_at: Time;
}

export interface AllowanceTable {
  account_id: string;
  window_number: number;
  used: number;
  /** What the window had room for when requests were counted last. */
  room: number;
}

/** When it was last somebody's turn at something that one process does for all; and by its name, what a worker knows (db/leases.ts). */
export interface LeaseTable {
  name: string;
  taken_at: Time;
  /** What one process keeps for all, as JSON. */
  found: ColumnType<string | null, string | undefined, string>;
  found_at: TimeOrNull;
}

/** A part of a session's title and transcript, for search: see src/search/passages.ts. */
export interface PassageTable {
  account_id: string;
  session_id: string;
  /** From 0. */
  number: number;
  /** Of the session. */
  created_at: string;
  /** False while there is only a title. */
  of_transcript: boolean;
  first_segment: number;
  starts: number[];
  /** A `tsvector`. */
  words: string;
  /** Of what indexed its transcript: `indexVersion`. 0 for a title alone, and before there were versions. */
  version: Generated<number>;
}

/** Which languages an account's transcripts are in: a query is asked in these. */
export interface SearchLanguageTable {
  account_id: string;
  /** See src/search/index-languages.ts. */
  mark: string;
}

/** What support did: the command without its arguments. */
export type SupportAct =
  | `accounts ${'create' | 'set-plan' | 'set-limits' | 'set-retention' | 'suspend' | 'resume' | 'delete'}`
  | `balance ${'credit' | 'correct'}`
  | `keys ${'issue' | 'rotate' | 'revoke'}`
  | 'plans set'
  | `sessions ${'retry' | 'cancel' | 'delete' | 'export'}`
  | `database ${'migrate' | 'run'}`
  | 'store adopt'
  | 'move'
  | 'backup'
  | 'restore';

export interface SupportLogTable {
  /** From 1, without gaps. */
  number: number;
  at: ColumnType<string, string | undefined, never>;
  who: string;
  act: SupportAct;
  account_id: string | null;
  /** JSON: ids, numbers and names of plans. */
  details: ColumnType<string, string, never>;
}

/** The one row about the audio store. */
export interface KnownStore {
  /** What is written in the store, too. */
  store_id: string;
  /** False while it is about to be written there: a process may have died in between. */
  is_written: boolean;
}

export interface Schema {
  plans: PlanTable;
  accounts: AccountTable;
  api_keys: ApiKeyTable;
  sessions: SessionTable;
  transcripts: TranscriptTable;
  passages: PassageTable;
  search_languages: SearchLanguageTable;
  ledger: LedgerTable;
  support_log: SupportLogTable;
  idempotency: IdempotencyTable;
  allowance: AllowanceTable;
  leases: LeaseTable;
  audio_store: KnownStore;
}
