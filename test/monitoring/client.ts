/** A customer: sends recordings, and asks for what there is. */
import { openAsBlob } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { speechClips } from '../support/uploads/audio-fixtures.ts';

export class Client {
  readonly #url: string;
  readonly #key: string;

  constructor(url: string, key: string) {
    [this.#url, this.#key] = [url, key];
  }

  /** @returns the status; undefined when there was no answer */
  async get(path: string, key = this.#key): Promise<number | undefined> {
    return this.#send(path, key, {});
  }

  async upload(): Promise<number | undefined> {
    const body = new FormData();
    body.append('file', await openAsBlob((await speechClips())[1]!.file), 'voice.wav');
    return this.#send('/transcriptions', this.#key, { method: 'POST', body });
  }

  /** Works until it is told to stop. */
  load(): () => Promise<void> {
    let isLoaded = true;
    const work = async () => {
      while (isLoaded) {
        await this.upload();
        await Promise.all([this.get('/sessions'), this.get('/sessions/nothing'), pause(200)]);
      }
    };
    const working = work();
    return async () => {
      isLoaded = false;
      await working;
    };
  }

  async #send(path: string, key: string, init: RequestInit): Promise<number | undefined> {
    try {
      const answer = await fetch(this.#url + path, { ...init, headers: { Authorization: `Bearer ${key}` } });
      await answer.arrayBuffer();
      return answer.status;
    } catch {
      return undefined;
    }
  }
}
