/** Decoded audio on its way to the recognizer: `work/<account>.<session>.<attempt>`. */
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { filesIn, lastTouched } from '../touched-files.ts';
import type { Attempt } from '../../db/attempts.ts';
import type { WrittenFile } from '../touched-files.ts';

const attemptName = /^([0-9a-f-]{36})\.([0-9a-f-]{36})\.(\d+)$/;

export class WorkFolder {
  readonly #folder: string;

  constructor(dataDir: string) {
    this.#folder = join(dataDir, 'work');
  }

  async open(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
  }

  path({ accountId, sessionId, attempt }: Attempt): string {
    return join(this.#folder, `${accountId}.${sessionId}.${attempt}`);
  }

  /** Removes the audio of an attempt that is over, and what earlier attempts at its session left when they died. */
  async remove({ accountId, sessionId, attempt }: Attempt): Promise<void> {
    for (const left of await this.list()) {
      const isEarlier = left.accountId === accountId && left.sessionId === sessionId && left.attempt <= attempt;
      if (isEarlier) await rm(this.path(left), { force: true });
    }
  }

  /** Everything that lies there, with the attempt that it is of; other files are of none. */
  async *files(): AsyncGenerator<WrittenFile & { attempt: Attempt | undefined }> {
    for await (const file of filesIn(this.#folder)) yield { ...file, attempt: attemptOf(file.name) };
  }

  async exists(name: string): Promise<boolean> {
    return (await lastTouched(join(this.#folder, name))) !== undefined;
  }

  /** The attempts whose decoded audio is there, of every process that shares this folder; other files are none. */
  async list(): Promise<Attempt[]> {
    return (await readdir(this.#folder)).flatMap((name) => attemptOf(name) ?? []);
  }
}

function attemptOf(name: string): Attempt | undefined {
  const [, accountId, sessionId, attempt] = attemptName.exec(name) ?? [];
  if (accountId === undefined || sessionId === undefined) return undefined;
  return { accountId, sessionId, attempt: Number(attempt) };
}
