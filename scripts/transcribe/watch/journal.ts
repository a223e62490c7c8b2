import { appendFile, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Refusal } from '../../terminal/refusal.ts';
import type { Format } from '../formats.ts';
import type { FileState } from '../recording-file.ts';

/** A transcript's file. */
export interface Result {
  /** Its path below the folder of results. */
  name: string;
  /** The SHA-256 of the recording that it is the transcript of. */
  of: string;
  /** The SHA-256 of what was written; missing for a file that was there before. */
  sha256?: string;
}

/** What is known of one recording. */
export interface Entry extends FileState {
  /** Its path within the watched folder. */
  path: string;
  sha256: string;
  /** How often these bytes failed. */
  failures: number;
  /** It failed, and its notice was written. It waits until the file changes or the notice is deleted. */
  failed?: boolean;
  /** The session that these bytes were accepted as. */
  sessionId?: string;
  results: Partial<Record<Format, Result>>;
}

const journalName = '.transcribe.jsonl';

/**
 * What became of each recording, a line of JSON for each change. Lines are appended and flushed, so that a kill costs at
 * most the last one; the Idempotency-Key makes up for that.
 */
export class Journal {
  readonly #file: string;
  readonly #entries: Map<string, Entry>;

  private constructor(file: string, entries: Map<string, Entry>) {
    this.#file = file;
    this.#entries = entries;
  }

  /**
   * Reads what earlier watches left, and keeps one line of each recording.
   * @param watched the folder with the recordings, an absolute path
   * @throws {Refusal} when the results in `out` are those of another folder
   */
  static async open(out: string, watched: string): Promise<Journal> {
    const file = join(out, journalName);
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '';
      throw error;
    });
    const lines = text.split('\n').flatMap(parsed);
    const before = lines.find((line): line is { watched: string } => 'watched' in line)?.watched;
    if (before !== undefined && before !== watched) {
      const advice = `Choose another --out. If the folder was moved, write its new name into the first line of ${file}`;
      throw new Refusal(`${out} has the transcripts of another folder, ${before}.\n${advice}`);
    }
    const entries = lines.filter((line): line is Entry => 'path' in line);
    const journal = new Journal(file, new Map(entries.map((entry) => [entry.path, entry])));
    const whole = [{ watched }, ...journal.#entries.values()].map((line) => `${JSON.stringify(line)}\n`).join('');
    await writeFile(`${file}.new`, whole, { flush: true });
    await rename(`${file}.new`, file);
    return journal;
  }

  get(path: string): Entry | undefined {
    return this.#entries.get(path);
  }

  /** The session that these bytes were accepted as, wherever they lay. */
  sessionOf(sha256: string): string | undefined {
    return this.#entries.values().find((entry) => entry.sha256 === sha256 && entry.sessionId !== undefined)?.sessionId;
  }

  all(): Iterable<Entry> {
    return this.#entries.values();
  }

  async put(entry: Entry): Promise<void> {
    this.#entries.set(entry.path, entry);
    // It begins with a line break, because a full disk or a kill may have cut the line before.
    await appendFile(this.#file, `\n${JSON.stringify(entry)}\n`, { flush: true });
  }
}

/** Nothing for an empty line, and for one that was cut. */
function parsed(line: string): (Entry | { watched: string })[] {
  if (line === '') return [];
  try {
    return [JSON.parse(line) as Entry | { watched: string }];
  } catch {
    return [];
  }
}
