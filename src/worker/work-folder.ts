/** Decoded audio on its way to the recognizer: `work/<account>.<session>.<attempt>`. */
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Attempt } from '../../db/attempts.ts';

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

  /** The attempts whose decoded audio is there, of every process that shares this folder; other files are none. */
  async list(): Promise<Attempt[]> {
    return (await readdir(this.#folder)).flatMap((name) => {
      const [, accountId, sessionId, attempt] = attemptName.exec(name) ?? [];
      if (accountId === undefined || sessionId === undefined) return [];
      return [{ accountId, sessionId, attempt: Number(attempt) }];
    });
  }
}
