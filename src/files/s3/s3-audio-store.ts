/** Audio in an S3-compatible object store: `<prefix><account>/<session>` in a bucket. Nothing else is to write there. */
import { createWriteStream } from 'node:fs';
import { stat, open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  AbortMultipartUploadCommand,
  ListMultipartUploadsCommand,
} from '@aws-sdk/client-s3';
import { FairTurns } from '../../concurrency/fair-turns.ts';
import { AudioStoreAway, AudioUnreadable, isId, markName } from '../audio-store.ts';
import { ask, connect, isRefusal, storeTimeOf } from './bucket.ts';
import { randomUUID } from 'node:crypto';
import { Upload } from '@aws-sdk/lib-storage';
import type { Readable } from 'node:stream';
import type { S3Client, ListMultipartUploadsCommandOutput, ListObjectsV2CommandOutput } from '@aws-sdk/client-s3';
import type { ObjectPlace } from '../../config/values.ts';
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

/** No upload goes on for so long. */
const abandonedMs = 24 * 60 * 60 * 1000;

export interface Page {
  objects: { key: string; storedAt: number }[];
  /** ms since the epoch, by the clock of the store when it answered. `storedAt` is by the same clock. */
  storeNow: number;
}

/**
 * What lies in the object store, a thousand at a time, and how old it is by the clock of the store.
 * @param below a part of the key after the prefix
 */
export async function* pages(client: S3Client, place: ObjectPlace, below = ''): AsyncGenerator<Page> {
  const listed = { Bucket: place.bucket, Prefix: `${place.prefix}${below}` };
  let ContinuationToken: string | undefined;
  do {
    const command = new ListObjectsV2Command({ ...listed, ContinuationToken });
    const page: ListObjectsV2CommandOutput = await ask(() => client.send(command));
    const objects = (page.Contents ?? []).map(({ Key, LastModified }) => ({
      key: Key!,
      storedAt: LastModified!.getTime(),
    }));
    yield { objects, storeNow: storeTimeOf(page) };
    ContinuationToken = page.IsTruncated === true ? page.NextContinuationToken : undefined;
  } while (ContinuationToken !== undefined);
}

/**
 * Aborts uploads in parts that a killed process has begun. Self-hosted stores keep their parts for ever. One that can't be
 * aborted keeps no others.
 * @throws {AggregateError} the failures, after all others were aborted
 */
async function abortAbandonedUploads(client: S3Client, { bucket, prefix }: ObjectPlace): Promise<void> {
  let after: Pick<ListMultipartUploadsCommandOutput, 'NextKeyMarker' | 'NextUploadIdMarker'> | undefined = {};
  const failures: unknown[] = [];
  while (after !== undefined) {
    const markers = { KeyMarker: after.NextKeyMarker, UploadIdMarker: after.NextUploadIdMarker };
    const command = new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix, ...markers });
    const page: ListMultipartUploadsCommandOutput = await ask(() => client.send(command));
    const now = storeTimeOf(page);
    for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
      if (now - Initiated!.getTime() <= abandonedMs) continue;
      const abort = new AbortMultipartUploadCommand({ Bucket: bucket, Key, UploadId });
      await ask(() => client.send(abort)).catch((error: unknown) => failures.push(error));
    }
    after = page.IsTruncated === true ? page : undefined;
  }
  if (failures.length > 0) throw new AggregateError(failures, 'some abandoned uploads were not aborted');
}

const partBytes = 8 * 1024 ** 2;
const partsAtOnce = 2;

interface Target {
  Bucket: string;
  Key: string;
}

/**
 * From a file to an object that was not there before, in parts, each with its checksum. When this resolves, the store has
 * the object on its disks. A file of one part is one request.
 * @returns false when there is another object already, which stays as it was
 * @throws {AudioStoreAway}
 */
async function putFile(client: S3Client, file: string, target: Target): Promise<boolean> {
  const content = await open(file);
  try {
    const { size } = await content.stat();
    // Says whose an object is: the answer to a first try may get lost, and its repetition is refused.
    const put = randomUUID();
    const upload = new Upload({
      client,
      partSize: partBytes,
      queueSize: partsAtOnce,
      // The store would be asked to forget them before the caller hears that it is away.
      leavePartsOnError: true,
      params: {
        ...target,
        Body: content.createReadStream({ autoClose: false, highWaterMark: 1024 ** 2 }),
        ContentLength: size,
        IfNoneMatch: '*',
        ChecksumAlgorithm: 'CRC32',
        ChecksumType: 'FULL_OBJECT',
        Metadata: { put },
      },
    });
    return await ask(() =>
      upload.done().then(
        () => true,
        (error: unknown) => {
          forgetParts(client, target, upload.uploadId);
          if (isRefusal(error, 'PreconditionFailed', 'NoSuchUpload')) return isOf(client, target, put);
          throw error;
        },
      ),
    );
  } finally {
    await content.close();
  }
}

async function isOf(client: S3Client, target: Target, put: string): Promise<boolean> {
  const { Metadata } = await client.send(new HeadObjectCommand(target));
  return Metadata?.['put'] === put;
}

/** Nobody waits for it. The sweep aborts what is left. */
function forgetParts(client: S3Client, target: Target, UploadId: string | undefined): void {
  if (UploadId !== undefined)
    client.send(new AbortMultipartUploadCommand({ ...target, UploadId })).catch(() => undefined);
}
