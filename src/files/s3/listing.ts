/** What lies in the object store, a thousand at a time, and how old it is by the clock of the store. */
import { AbortMultipartUploadCommand, ListMultipartUploadsCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { ask, storeTimeOf } from './bucket.ts';
import type { ListMultipartUploadsCommandOutput, ListObjectsV2CommandOutput, S3Client } from '@aws-sdk/client-s3';
import type { ObjectPlace } from '../../config/object-place.ts';

/** No upload goes on for so long. */
const abandonedMs = 24 * 60 * 60 * 1000;

export interface Page {
  objects: { key: string; storedAt: number }[];
  /** ms since the epoch, by the clock of the store when it answered. `storedAt` is by the same clock. */
  storeNow: number;
}

/** @param below a part of the key after the prefix */
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
export async function abortAbandonedUploads(client: S3Client, { bucket, prefix }: ObjectPlace): Promise<void> {
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
