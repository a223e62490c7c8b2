/**
 * A backup on disk: `database/` and `audio/`, `SHA256SUMS` of every file as `sha256sum --check` reads it, and last of all
 * `backup.json`. A folder without `backup.json` is no backup.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { isNotFound } from '../../src/files/touched-files.ts';
import { Refusal } from '../terminal/refusal.ts';
import type { Readable } from 'node:stream';

const format = 1;

export interface BackupNotes {
  format: number;
  /** RFC 3339. */
  madeAt: string;
  /** Below the backup. Some are empty. */
  folders: string[];
  audioFiles: number;
  /** Lines of SHA256SUMS. */
  files: number;
  bytes: number;
}

export class NewBackup {
  readonly path: string;
  readonly #sums = new Map<string, { sum: string; bytes: number }>();
  readonly #folders = new Set<string>();

  private constructor(path: string) {
    this.path = path;
  }

  /** @throws {Refusal} when something is in the folder */
  static async in(folder: string): Promise<NewBackup> {
    await refuseUnlessEmpty(folder, 'A backup goes to a folder of its own');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return new NewBackup(resolve(folder));
  }

  has(name: string): boolean {
    return this.#sums.has(name);
  }

  async addFolder(name: string): Promise<void> {
    await mkdir(join(this.path, name), { recursive: true, mode: 0o700 });
    this.#folders.add(name);
  }

  /** Copies a file, unless it is gone. */
  async addFile(name: string, path: string): Promise<void> {
    try {
      await this.addStream(name, createReadStream(path));
    } catch (error) {
      if (!isNotFound(error)) throw error;
      await this.remove(name);
    }
  }

  async addStream(name: string, content: Readable): Promise<void> {
    const path = join(this.path, name);
    if (!this.#folders.has(dirname(name))) await this.addFolder(dirname(name));
    this.#sums.set(name, await copySummed(content, path));
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.path, name), { force: true });
    this.#sums.delete(name);
  }

  names(): string[] {
    return [...this.#sums.keys()];
  }

  async finish(audioFiles: number): Promise<BackupNotes> {
    const lines = [...this.#sums].map(([name, { sum }]) => `${sum}  ${name}\n`);
    await writeFile(join(this.path, 'SHA256SUMS'), lines.join(''), { mode: 0o600 });
    const bytes = [...this.#sums.values()].reduce((all, file) => all + file.bytes, 0);
    const notes = {
      format,
      madeAt: new Date().toISOString(),
      folders: [...this.#folders],
      audioFiles,
      files: this.#sums.size,
      bytes,
    };
    await syncDiskOf(this.path);
    await writeFile(join(this.path, 'backup.json'), `${JSON.stringify(notes, null, 2)}\n`, {
      mode: 0o600,
      flush: true,
    });
    return notes;
  }

  /** After a failure. The folder itself stays: a disk may be mounted there. */
  async discard(): Promise<void> {
    for (const name of await readdir(this.path)) await rm(join(this.path, name), { recursive: true, force: true });
  }
}

/** Puts everything onto the disk of a folder, at once: a thousand files one by one take ten seconds. */
export async function syncDiskOf(folder: string): Promise<void> {
  await promisify(execFile)('sync', ['--file-system', folder]);
}

/** @throws {Refusal} when the folder holds no whole backup */
export async function readBackup(
  folder: string,
): Promise<{ notes: BackupNotes; files: { name: string; sum: string }[] }> {
  const text = await readFile(join(folder, 'backup.json'), 'utf8').catch(() => {
    throw new Refusal(`${folder} holds no backup: there is no backup.json in it, which is written last.`);
  });
  const notes = JSON.parse(text) as BackupNotes;
  if (notes.format !== format) throw new Refusal(`The backup in ${folder} is of another version of the service.`);
  const lines = (await readFile(join(folder, 'SHA256SUMS'), 'utf8')).split('\n').filter((line) => line !== '');
  const files = lines.map((line) => ({ sum: line.slice(0, 64), name: line.slice(66) }));
  if (files.length !== notes.files)
    throw new Refusal(`The backup is damaged: SHA256SUMS names ${files.length} files instead of ${notes.files}.`);
  const strange = [...files.map(({ name }) => name), ...notes.folders].find((name) => !isWithin(name));
  if (strange !== undefined) throw new Refusal(`The backup in ${folder} names ${strange}, which is not its own.`);
  return { notes, files };
}

const isWithin = (name: string) => /^(database|audio)(\/[\w.-]+)*$/.test(name) && !name.split('/').includes('..');

/** @throws {Refusal} when the copy is not what was backed up */
export async function copyBack(
  folder: string,
  { name, sum }: { name: string; sum: string },
  to: string,
): Promise<void> {
  const copied = await copySummed(createReadStream(join(folder, name)), to).catch((error: Error) => {
    throw new Refusal(`${name} of the backup can not be copied: ${error.message}`);
  });
  if (copied.sum !== sum) throw new Refusal(`The backup is damaged: ${name} is not what was backed up.`);
}

/** @throws {Refusal} */
export async function refuseUnlessEmpty(folder: string, rule: string): Promise<void> {
  const entries = await readdir(folder).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new Refusal(`${rule}, and ${folder} is none: ${(error as Error).message}`);
  });
  if (entries.length > 0) throw new Refusal(`${rule}, and ${folder} is not empty: it holds ${entries[0]}.`);
}

async function copySummed(content: Readable, path: string): Promise<{ sum: string; bytes: number }> {
  const hash = createHash('sha256');
  let bytes = 0;
  const summing = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      hash.update(chunk);
      bytes += chunk.length;
      yield chunk;
    }
  };
  await pipeline(content, summing, createWriteStream(path, { mode: 0o600 }));
  return { sum: hash.digest('hex'), bytes };
}
