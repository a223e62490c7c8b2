/** The tables of the search index as Kysely sees them. */
import type { Generated } from 'kysely';

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
