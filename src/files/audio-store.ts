import { DependencyError } from '../ops/dependency-error.ts';

/**
 * Where the audio of sessions is kept, from just before its upload is accepted until no session needs it. It
 * knows no rows: callers look at the rows before they remove audio.
 *
 * Every call may throw {@link AudioStoreUnavailable}.
 */
export interface AudioStore {
  /** Makes what it needs and what is missing. It may be called again. */
  open(): Promise<void>;

  /**
   * Takes over a file that is on disk already (fsync). When this resolves, the audio survives a power failure. What is
   * stored is never replaced.
   *
   * @param file a path of the {@link Spool}
   * @throws when the session has audio already; then that stays as it was
   */
  put(file: string, accountId: string, sessionId: string): Promise<void>;

  /** Whether `fetch` writes a copy. Then the disk of `to` needs room for it. */
  readonly fetchesCopies: boolean;

  /**
   * @param wanted.to where a copy goes, if one has to be made
   * @param wanted.bytes how long the audio is, if that is known. A copy of another length is refused
   * @param wanted.signal ends the copying
   * @returns the path of a file to read the audio from; only for reading, and as long as the session has its audio
   * @throws {AudioUnreadable}
   * @throws the reason of `wanted.signal`
   */
  fetch(accountId: string, sessionId: string, wanted: WantedAudio): Promise<string>;

  exists(accountId: string, sessionId: string): Promise<boolean>;

  /** Also when it is not there. */
  remove(accountId: string, sessionId: string): Promise<void>;

  /** @throws when some of it can't be removed; the rest is gone then */
  removeAccount(accountId: string): Promise<void>;

  /**
   * All that is stored, ordered by account and name, in the order of their bytes. It also gives what does not have the
   * name of a session: a person put it there.
   *
   * @param onUnreadable told of accounts whose audio can't be listed, which are left out; without it, that ends the list
   */
  list(onUnreadable?: (error: unknown) => void): AsyncGenerator<StoredAudio>;

  /** Removes what killed processes left of a `put`, when it is so old that no `put` goes on for so long. */
  endAbandonedPuts(): Promise<void>;

  /** @throws when no audio can be read at all */
  checkReadable(): Promise<void>;
}

/** A store before anybody has made sure that it is the database's: see `VerifiedAudioStore`. */
export interface AudioStoreBackend extends AudioStore {
  /** Where it is, for operators. */
  readonly place: string;
  /** What an operator looks for when it is not the one that it was: a sentence. */
  readonly looksFor: string;
  /** For how long it surely stays the one whose id was read. */
  readonly storeIdValidMs: number;

  /** Undefined where there is none. */
  readStoreId(): Promise<string | undefined>;
  /** In the place of any other. When this resolves, it survives a power failure. */
  writeStoreId(storeId: string): Promise<void>;
}

/** The name of the file with the id, in every store. It is no audio, so no sweep takes it. */
export const storeIdFile = 'store-mark';

export interface WantedAudio {
  to: string;
  bytes: number | undefined;
  signal: AbortSignal;
}

export interface StoredAudio {
  accountId: string;
  name: string;
  /** ms since its bytes were written, by the clock of the store. */
  ageMs: number;
  /** ms since it is in the store, by the same clock: no client and no copy can set that. */
  keptMs: number;
}

/** The store can not be reached, or refuses what it must do. Only the operator can fix that. */
export class AudioStoreUnavailable extends DependencyError {
  override readonly name: string = 'AudioStoreUnavailable';
}

/** The store is there no more: it is not the one that the database knows, or its disk is gone or fails. */
export class AudioStoreLost extends AudioStoreUnavailable {
  override readonly name = 'AudioStoreLost';
}

/** The store answers, and what it has of a session is not what was put there. Other audio can be read. */
export class AudioUnreadable extends Error {
  override readonly name = 'AudioUnreadable';
}

/** Whether a name is one that a session may have. Whoever puts other files beside them keeps them. */
export const isId = (name: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(name);

/** The same audio, some of an account at a time: rows are asked for by account. */
export async function* byAccount(
  audio: AsyncIterable<StoredAudio>,
  atATime: number,
): AsyncGenerator<{ accountId: string; files: StoredAudio[] }> {
  let files: StoredAudio[] = [];
  for await (const file of audio) {
    const [first] = files;
    if (first !== undefined && (first.accountId !== file.accountId || files.length === atATime)) {
      yield { accountId: first.accountId, files };
      files = [];
    }
    files.push(file);
  }
  if (files[0] !== undefined) yield { accountId: files[0].accountId, files };
}

/** The system's error codes for a disk that went away, can't be written to or fails (errno(3)). A full disk is not among them. */
const lostCodes = new Set([
  ...['ENOENT', 'ENOTDIR', 'EROFS', 'EIO', 'ESTALE', 'ENODEV', 'ENXIO', 'ENOTCONN', 'EACCES', 'EPERM'],
]);

/**
 * Does something on the disk of DATA_DIR, in folders that are there while the disk is.
 *
 * @throws {AudioStoreLost} when the disk is gone or fails
 */
export async function onDisk<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code, syscall, message } = error as NodeJS.ErrnoException;
    if (syscall === undefined || !lostCodes.has(code ?? '')) throw error;
    throw new AudioStoreLost(`the disk of DATA_DIR can not be used: ${message}`, { cause: error });
  }
}
