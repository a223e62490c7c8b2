/** A customer: sends recordings, and asks for what there is. */
import { readFile } from 'node:fs/promises';
import { allTheWhile } from '../rig/all-the-while.ts';
import { statusOf, uploadOf } from '../rig/client.ts';
import { speechClips } from '../support/uploads/audio-fixtures.ts';
import type { Server } from '../rig/client.ts';

const pauseMs = 200;

export class Client {
  readonly #server: Server;

  constructor(server: Server) {
    this.#server = server;
  }

  /** @returns the status; undefined when there was no answer */
  get(path: string, key = this.#server.key): Promise<number | undefined> {
    return statusOf({ ...this.#server, key }, path);
  }

  async upload(): Promise<number | undefined> {
    const [, clip] = await speechClips();
    return statusOf(this.#server, '/transcriptions', uploadOf(await readFile(clip!.file), 'voice.wav'));
  }

  /** Works until it is told to stop. */
  load(): () => Promise<void> {
    return allTheWhile(pauseMs, async () => {
      await this.upload();
      await Promise.all([this.get('/sessions'), this.get('/sessions/nothing')]);
    });
  }
}
