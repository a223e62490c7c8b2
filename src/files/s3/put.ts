/** From a file to an object that was not there before, in parts, each with its checksum. */
import { randomUUID } from 'node:crypto';
import { open } from 'node:fs/promises';
import { AbortMultipartUploadCommand, HeadObjectCommand } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { ask, isRefusal } from './bucket.ts';
import type { S3Client } from '@aws-sdk/client-s3';

const partBytes = 8 * 1024 ** 2;
const partsAtOnce = 2;

interface Target {
  Bucket: string;
  Key: string;
}

/**
 * When this resolves, the store has the object on its disks. A file of one part is one request.
 * @returns false when there is another object already, which stays as it was
 * @throws {AudioStoreAway}
 */
export async function putFile(client: S3Client, file: string, target: Target): Promise<boolean> {
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
