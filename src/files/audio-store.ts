import type { WrittenFile } from './touched-files.ts';

/**
 * Where the audio of sessions is kept, from the moment before its upload is accepted until nobody needs it any more. It
 * knows no rows: whoever removes audio has looked at them.
 */
export interface AudioStore {
  open(): Promise<void>;

  /**
   * Takes over a file that is on disk already (fsync). When this resolves, the audio survives a power failure.
   *
   * @param file a path of the {@link Spool}
   */
  put(file: string, accountId: string, sessionId: string): Promise<void>;

  /** @returns the path of a file to read the audio from; only for reading, and as long as the session has its audio */
  fetch(accountId: string, sessionId: string): Promise<string>;

  exists(accountId: string, sessionId: string): Promise<boolean>;

  /** Also when it is not there. */
  remove(accountId: string, sessionId: string): Promise<void>;

  removeAccount(accountId: string): Promise<void>;

  /**
   * All that is stored, some of an account at a time, in no order. It also gives what does not have the name of a
   * session: a person put it there.
   */
  stored(atATime: number): AsyncGenerator<{ accountId: string; files: WrittenFile[] }>;

  /** Audio of sessions that was stored before `before` (ms since the epoch), by account. */
  olderThan(before: number): AsyncGenerator<{ accountId: string; sessionIds: string[] }>;

  /** @throws when no audio can be read at all */
  checkReadable(): Promise<void>;
}
