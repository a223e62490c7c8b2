/** The one row about the audio store. */
export interface KnownStore {
  /** What is written in the store, too. */
  mark: string;
  /** False while it is about to be written there: a process may have died in between. */
  is_marked: boolean;
}
