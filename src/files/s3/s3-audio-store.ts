/** Audio in an S3-compatible object store: `<prefix><account>/<session>` in a bucket. Nothing else is to write there. */
import { createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { FairTurns } from '../../concurrency/fair-turns.ts';
import { AudioStoreAway, AudioUnreadable, isId, markName } from '../audio-store.ts';
import { ask, connect, isRefusal } from './bucket.ts';
import { abortAbandonedUploads, pages } from './listing.ts';
import { putFile } from './put.ts';
import type { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import type { ObjectPlace } from '../../config/object-place.ts';
import type { BareAudioStore, StoredAudio, WantedAudio } from '../audio-store.ts';

/** One of 1 GiB took 94 MB of memory. Accounts take turns, so that one with many uploads can't block others. */
const putsAtOnce = { atOnce: 4, each: 3 };

export class S3AudioStore implements BareAudioStore {
  readonly fetchesCopies = true;
  readonly looksFor = 'Are AUDIO_STORE and AWS_ENDPOINT_URL those of before?';
  /** Its settings stay while the process runs. */
  readonly markHoldsMs = 10_000;
  readonly #place: ObjectPlace;
  readonly #client: S3Client;
  readonly #turns = new FairTurns(putsAtOnce);

  constructor(place: ObjectPlace) {
    this.#place = place;
    this.#client = connect(place);
  }

  get place(): string {
    return `s3://${this.#place.bucket}/${this.#place.prefix}`;
  }

  async open(): Promise<void> {}

  readMark(): Promise<string | undefined> {
    const get = new GetObjectCommand({ ...this.#markTarget(), ChecksumMode: 'ENABLED' });
    const read = async () => (await (await this.#client.send(get)).Body!.transformToString()).trim();
    return ask(() =>
      read().catch((error: unknown) => {
        if (!isRefusal(error, 'NoSuchKey')) throw error;
        return undefined;
      }),
    );
  }

  async writeMark(mark: string): Promise<void> {
    await ask(() => this.#client.send(new PutObjectCommand({ ...this.#markTarget(), Body: `${mark}\n` })));
  }

  async put(file: string, accountId: string, sessionId: string): Promise<void> {
    const target = this.#target(accountId, sessionId);
    const isStored = await this.#turns.run(accountId, () => putFile(this.#client, file, target));
    if (!isStored) throw new Error(`${sessionId} has audio already`);
  }

  /** Checksums of whole objects, which `put` asks for, are checked while the copy is written. */
  async fetch(accountId: string, sessionId: string, { to, bytes, signal }: WantedAudio): Promise<string> {
    const target = this.#target(accountId, sessionId);
    const isThere = await ask(() => unless(this.#copy(target, to, signal), 'NoSuchKey'), signal);
    if (!isThere) throw new AudioUnreadable(`the audio of ${sessionId} is not in the object store`);
    const { size } = await stat(to);
    if (bytes !== undefined && size !== bytes)
      throw new AudioUnreadable(`the audio of ${sessionId} in the object store has ${size} bytes, not ${bytes}`);
    return to;
  }

  exists(accountId: string, sessionId: string): Promise<boolean> {
    const head = new HeadObjectCommand(this.#target(accountId, sessionId));
    return ask(() => unless(this.#client.send(head), 'NotFound'));
  }

  async remove(accountId: string, sessionId: string): Promise<void> {
    await ask(() => this.#client.send(new DeleteObjectCommand(this.#target(accountId, sessionId))));
  }

  async removeAccount(accountId: string): Promise<void> {
    const { bucket: Bucket } = this.#place;
    const left: (string | undefined)[] = [];
    for await (const { objects } of pages(this.#client, this.#place, `${accountId}/`)) {
      if (objects.length === 0) continue;
      const Delete = { Objects: objects.map(({ key }) => ({ Key: key })), Quiet: true };
      const { Errors = [] } = await ask(() => this.#client.send(new DeleteObjectsCommand({ Bucket, Delete })));
      left.push(...Errors.map(({ Message }) => Message));
    }
    if (left.length > 0) throw new AudioStoreAway(`${left.length} objects were not deleted: ${left[0]}`);
  }

  async *list(): AsyncGenerator<StoredAudio> {
    const { prefix } = this.#place;
    for await (const { objects, storeNow } of pages(this.#client, this.#place)) {
      for (const { key, storedAt } of objects) {
        const [accountId, name, ...deeper] = key.slice(prefix.length).split('/');
        const isOurs = accountId !== undefined && isId(accountId) && name && deeper.length === 0;
        const ageMs = storeNow - storedAt;
        if (isOurs) yield { accountId, name, ageMs, keptMs: ageMs };
      }
    }
  }

  endAbandonedPuts(): Promise<void> {
    return abortAbandonedUploads(this.#client, this.#place);
  }

  /** Lists as the sweeps do: whoever may not list can't keep audio here. */
  async checkReadable(): Promise<void> {
    const { bucket: Bucket, prefix: Prefix } = this.#place;
    await ask(() => this.#client.send(new ListObjectsV2Command({ Bucket, Prefix, MaxKeys: 1 })));
  }

  async #copy(target: { Bucket: string; Key: string }, to: string, signal: AbortSignal): Promise<void> {
    const get = new GetObjectCommand({ ...target, ChecksumMode: 'ENABLED' });
    const { Body } = await this.#client.send(get, { abortSignal: signal });
    await pipeline(Body as Readable, createWriteStream(to, { mode: 0o600 }), { signal });
  }

  #markTarget(): { Bucket: string; Key: string } {
    return { Bucket: this.#place.bucket, Key: `${this.#place.prefix}${markName}` };
  }

  #target(accountId: string, sessionId: string): { Bucket: string; Key: string } {
    return { Bucket: this.#place.bucket, Key: `${this.#place.prefix}${accountId}/${sessionId}` };
  }
}

/** @returns false when the store refused with this code */
const unless = (asked: Promise<unknown>, code: string): Promise<boolean> =>
  asked.then(
    () => true,
    (error: unknown) => {
      if (isRefusal(error, code)) return false;
      throw error;
    },
  );
