import type { ColumnType } from 'kysely';

/** The one row about the audio store. */
export interface KnownStore {
  /** What is written in the store, too. */
  mark: string;
  /** False while it is about to be written there: a process may have died in between. */
  is_marked: boolean;
  /** What is written in a store that audio is moved to; once that has ended, in the one that it came from. */
  other_mark: ColumnType<string | null, string | null | undefined, string | null>;
}
