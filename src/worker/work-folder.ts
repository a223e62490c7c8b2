/** Decoded audio on its way to the recognizer: `work/<account>.<session>.<attempt>`. */
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Attempt } from '../../db/session-states.ts';

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

  async remove(attempt: Attempt): Promise<void> {
    await rm(this.path(attempt), { force: true });
  }

  /** The attempts whose decoded audio is there, of every process that shares this folder. */
  async list(): Promise<Attempt[]> {
    return (await readdir(this.#folder)).map((name) => {
      const [accountId = '', sessionId = '', attempt] = name.split('.');
      return { accountId, sessionId, attempt: Number(attempt) };
    });
  }
}
