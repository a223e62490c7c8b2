/**
 * The audio of a backup: exactly what the sessions need at its moment. Audio never changes, but workers remove it as soon as
 * its session is completed. So it is copied beforehand, round by round, and at the moment itself the last files are opened:
 * an open file can still be read when it has been removed.
 */
import { open } from 'node:fs/promises';
import { eachAudioOwner } from '../../../db/audit/audio.ts';
import { FileAudioStore } from '../../../src/files/file-audio-store.ts';
import { isGone } from '../../../src/files/touched-files.ts';
import type { FileHandle } from 'node:fs/promises';
import type { AudioOwner } from '../../../db/audit/audio.ts';
import type { AdminContext } from '../admin-context.ts';
import type { NewBackup } from './backup-folder.ts';

/** So few files are opened in a moment, and no process may open many more. */
const fewFiles = 50;
const maxRounds = 20;
const maxHeld = 500;

const nameOf = ({ account_id, id }: AudioOwner) => `audio/${account_id}/${id}`;

export class AudioCopy {
  readonly #db: AdminContext['db'];
  readonly #store: FileAudioStore;
  readonly #backup: NewBackup;
  #needed = new Set<string>();
  readonly #held: { name: string; file: FileHandle }[] = [];
  /** Sessions that have no audio although they need it: `verify` names them. */
  readonly lost: string[] = [];

  constructor({ db, dataDir }: Pick<AdminContext, 'db' | 'dataDir'>, backup: NewBackup) {
    this.#db = db;
    this.#store = new FileAudioStore(dataDir);
    this.#backup = backup;
  }

  /** Copies until only a few files are new since the last look. */
  async catchUp(): Promise<void> {
    for (let round = 1; round <= maxRounds; round++) {
      let copied = 0;
      for await (const owner of eachAudioOwner(this.#db)) {
        if (this.#backup.has(nameOf(owner))) continue;
        await this.#backup.addFile(nameOf(owner), this.#fileOf(owner));
        copied += 1;
      }
      if (copied <= fewFiles) return;
    }
  }

  /** At the moment of the backup, in which no session changes. */
  async hold(): Promise<void> {
    for await (const owner of eachAudioOwner(this.#db)) {
      const name = nameOf(owner);
      this.#needed.add(name);
      if (this.#backup.has(name)) continue;
      const file = await open(this.#fileOf(owner)).catch((error: unknown) => {
        if (!isGone(error)) throw error;
        this.lost.push(owner.id);
      });
      if (file === undefined) continue;
      this.#held.push({ name, file });
      if (this.#held.length >= maxHeld) await this.#copyHeld();
    }
  }

  /** @returns how many files there are */
  async finish(): Promise<number> {
    await this.#copyHeld();
    const audio = this.#backup.names().filter((name) => name.startsWith('audio/'));
    for (const name of audio) if (!this.#needed.has(name)) await this.#backup.remove(name);
    return this.#needed.size - this.lost.length;
  }

  async #copyHeld(): Promise<void> {
    for (const { name, file } of this.#held.splice(0)) await this.#backup.addStream(name, file.createReadStream());
  }

  #fileOf({ account_id, id }: AudioOwner): string {
    return this.#store.path(account_id, id);
  }
}
