/** Audio in an S3-compatible object store: `<prefix><account>/<session>` in a bucket. Nothing else is to write there. */
import { createWriteStream } from 'node:fs';
import { stat, open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  paginateListObjectsV2,
} from '@aws-sdk/client-s3';
import { FairTurns } from '../../concurrency/fair-turns.ts';
import { dependencyErrorOf } from '../../ops/dependency-error.ts';
import { AudioStoreUnavailable, AudioUnreadable, isId, storeIdFile } from '../audio-store.ts';
import { randomUUID } from 'node:crypto';
import { Upload } from '@aws-sdk/lib-storage';
import type { Readable } from 'node:stream';
import type { ListMultipartUploadsCommandOutput, _Object } from '@aws-sdk/client-s3';
import type { ObjectPlace } from '../../config/variables.ts';
import type { AudioStoreBackend, StoredAudio, WantedAudio } from '../audio-store.ts';

/** One of 1 GiB took 94 MB of memory. Accounts take turns, so that one with many uploads can't block others. */
const putsAtOnce = { atOnce: 4, each: 3 };
/** No upload goes on for so long. */
const abandonedMs = 24 * 60 * 60 * 1000;
const connectionTimeoutMs = 5_000;
/** Without a byte in either direction. Some stores put the parts of a large object together in silence. */
const silenceMs = 10_000;

interface Target {
  Bucket: string;
  Key: string;
}

export class S3AudioStore implements AudioStoreBackend {
  readonly fetchesCopies = true;
  readonly looksFor = 'Are AUDIO_STORE and AWS_ENDPOINT_URL those of before?';
  /** Its settings stay while the process runs. */
  readonly storeIdValidMs = 10_000;
  readonly #place: ObjectPlace;
  readonly #client: S3Client;
  readonly #turns = new FairTurns(putsAtOnce);

  constructor(place: ObjectPlace) {
    this.#place = place;
    const { endpoint, region } = place;
    this.#client = new S3Client({
      // Self-hosted stores have no name for each bucket, so the bucket stands in the path.
      ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
      ...(region !== undefined && { region }),
      maxAttempts: 3,
      requestHandler: { connectionTimeout: connectionTimeoutMs, socketTimeout: silenceMs },
    });
  }

  get place(): string {
    return `s3://${this.#place.bucket}/${this.#place.prefix}`;
  }

  async open(): Promise<void> {}

  readStoreId(): Promise<string | undefined> {
    const get = new GetObjectCommand({ ...this.#target(storeIdFile), ChecksumMode: 'ENABLED' });
    const read = async () => (await (await this.#client.send(get)).Body!.transformToString()).trim();
    return ask(() => unless(read(), 'NoSuchKey'));
  }

  async writeStoreId(storeId: string): Promise<void> {
    await ask(() => this.#client.send(new PutObjectCommand({ ...this.#target(storeIdFile), Body: `${storeId}\n` })));
  }

  async put(file: string, accountId: string, sessionId: string): Promise<void> {
    const target = this.#target(accountId, sessionId);
    const isStored = await this.#turns.run(accountId, () => putFile(this.#client, file, target));
    if (!isStored) throw new Error(`${sessionId} has audio already`);
  }

  /** Checksums of whole objects, which `put` asks for, are checked while the copy is written. */
  async fetch(accountId: string, sessionId: string, { to, bytes, signal }: WantedAudio): Promise<string> {
    const target = this.#target(accountId, sessionId);
    const size = await ask(() => unless(this.#copy(target, to, signal), 'NoSuchKey'), signal);
    if (size === undefined) throw new AudioUnreadable(`the audio of ${sessionId} is not in the object store`);
    if (bytes !== undefined && size !== bytes)
      throw new AudioUnreadable(`the audio of ${sessionId} in the object store has ${size} bytes, not ${bytes}`);
    return to;
  }

  async exists(accountId: string, sessionId: string): Promise<boolean> {
    const head = new HeadObjectCommand(this.#target(accountId, sessionId));
    return (await ask(() => unless(this.#client.send(head), 'NotFound'))) !== undefined;
  }

  async remove(accountId: string, sessionId: string): Promise<void> {
    await ask(() => this.#client.send(new DeleteObjectCommand(this.#target(accountId, sessionId))));
  }

  async removeAccount(accountId: string): Promise<void> {
    const { bucket: Bucket } = this.#place;
    const left: (string | undefined)[] = [];
    for await (const objects of this.#pages(`${accountId}/`)) {
      if (objects.length === 0) continue;
      const Delete = { Objects: objects.map(({ Key }) => ({ Key })), Quiet: true };
      const { Errors = [] } = await ask(() => this.#client.send(new DeleteObjectsCommand({ Bucket, Delete })));
      left.push(...Errors.map(({ Message }) => Message));
    }
    if (left.length > 0) throw new AudioStoreUnavailable(`${left.length} objects were not deleted: ${left[0]}`);
  }

  async *list(): AsyncGenerator<StoredAudio> {
    const { prefix } = this.#place;
    for await (const objects of this.#pages()) {
      const now = this.#storeNow();
      for (const { Key, LastModified } of objects) {
        const [accountId, name, ...deeper] = Key!.slice(prefix.length).split('/');
        const isOurs = accountId !== undefined && isId(accountId) && name && deeper.length === 0;
        const ageMs = now - LastModified!.getTime();
        if (isOurs) yield { accountId, name, ageMs, keptMs: ageMs };
      }
    }
  }

  /**
   * Aborts uploads in parts that a killed process has begun. Self-hosted stores keep their parts for ever. One that can't
   * be aborted does not stop the rest.
   * @throws {AggregateError} the failures, after all others were aborted
   */
  async endAbandonedPuts(): Promise<void> {
    const { bucket: Bucket, prefix: Prefix } = this.#place;
    let after: Pick<ListMultipartUploadsCommandOutput, 'NextKeyMarker' | 'NextUploadIdMarker'> | undefined = {};
    const failures: unknown[] = [];
    while (after !== undefined) {
      const markers = { KeyMarker: after.NextKeyMarker, UploadIdMarker: after.NextUploadIdMarker };
      const command = new ListMultipartUploadsCommand({ Bucket, Prefix, ...markers });
      const page: ListMultipartUploadsCommandOutput = await ask(() => this.#client.send(command));
      const now = this.#storeNow();
      for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
        if (now - Initiated!.getTime() <= abandonedMs) continue;
        const abort = new AbortMultipartUploadCommand({ Bucket, Key, UploadId });
        await ask(() => this.#client.send(abort)).catch((error: unknown) => failures.push(error));
      }
      after = page.IsTruncated === true ? page : undefined;
    }
    if (failures.length > 0) throw new AggregateError(failures, 'some abandoned uploads were not aborted');
  }

  /** Lists as the sweeps do: without that permission the store is unusable. */
  async checkReadable(): Promise<void> {
    const { bucket: Bucket, prefix: Prefix } = this.#place;
    await ask(() => this.#client.send(new ListObjectsV2Command({ Bucket, Prefix, MaxKeys: 1 })));
  }

  /** What lies in the object store, a thousand at a time. @param below a part of the key after the prefix */
  async *#pages(below = ''): AsyncGenerator<_Object[]> {
    const listed = { Bucket: this.#place.bucket, Prefix: `${this.#place.prefix}${below}` };
    const pages = paginateListObjectsV2({ client: this.#client }, listed);
    for (;;) {
      const page = await ask(() => pages.next());
      if (page.done) return;
      yield page.value.Contents ?? [];
    }
  }

  /** ms since the epoch by the clock of the store, as of its last answer: the SDK notes by how much ours differs. */
  #storeNow(): number {
    return Date.now() + this.#client.config.systemClockOffset;
  }

  /** @returns how many bytes were copied */
  async #copy(target: Target, to: string, signal: AbortSignal): Promise<number> {
    const get = new GetObjectCommand({ ...target, ChecksumMode: 'ENABLED' });
    const { Body } = await this.#client.send(get, { abortSignal: signal });
    await pipeline(Body as Readable, createWriteStream(to, { mode: 0o600 }), { signal });
    return (await stat(to)).size;
  }

  #target(...names: string[]): Target {
    return { Bucket: this.#place.bucket, Key: `${this.#place.prefix}${names.join('/')}` };
  }
}

/** Whether the store said no with one of these codes. */
const isRefusal = (error: unknown, ...codes: string[]): boolean => Error.isError(error) && codes.includes(error.name);

/** @returns undefined when the store refused with this code */
const unless = <T>(asked: Promise<T>, code: string): Promise<T | undefined> =>
  asked.catch((error: unknown) => {
    if (isRefusal(error, code)) return undefined;
    throw error;
  });

/**
 * Asks the store for something.
 * @throws {AudioStoreUnavailable} for what only the operator can fix: no connection, no permission, no bucket
 * @throws {AudioUnreadable}
 * @throws a fault of this machine's own disk, as it is
 * @throws the reason of `signal`
 */
async function ask<T>(what: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    return await what();
  } catch (error) {
    signal?.throwIfAborted();
    if (isDamaged(error)) throw new AudioUnreadable(`an object is not what was put there: ${error.message}`);
    const fault = dependencyErrorOf(error) as NodeJS.ErrnoException | undefined;
    throw fault === undefined || fault.syscall === 'connect' ? away(error) : fault;
  }
}

/** The SDK compares what it has read with the checksum that the store keeps (`@smithy/core`, serde). Its error has no name. */
const isDamaged = (error: unknown): error is Error =>
  Error.isError(error) && error.message.startsWith('Checksum mismatch');

/** Says why, without the request: its headers hold a signature. */
function away(error: unknown): AudioStoreUnavailable {
  const { name, message, code } = error as NodeJS.ErrnoException;
  // A connection that is refused at several addresses has its reason in the code alone.
  const reason = message || code || 'no answer';
  return new AudioStoreUnavailable(
    `the object store can not be used: ${name === 'Error' ? reason : `${name}: ${reason}`}`,
  );
}

const partBytes = 8 * 1024 ** 2;
const partsAtOnce = 2;

/**
 * From a file to an object that was not there before, in parts, each with its checksum. When this resolves, the store has
 * the object on its disks. A file of one part is one request.
 * @returns false when there is another object already, which stays as it was
 * @throws {AudioStoreUnavailable}
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
