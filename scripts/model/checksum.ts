import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';

/** The checksum that the hub gives: SHA-256 for a large file (Git LFS), the name of the Git object for a small one. */
export interface Checksum {
  algorithm: 'SHA-256' | 'Git SHA-1';
  /** Hexadecimal. */
  value: string;
}

/** @throws the abort reason of `signal` */
export async function checksumOf(file: string, algorithm: Checksum['algorithm'], signal: AbortSignal): Promise<string> {
  const hash = createHash(algorithm === 'SHA-256' ? 'sha256' : 'sha1');
  // https://git-scm.com/book/en/v2/Git-Internals-Git-Objects
  if (algorithm === 'Git SHA-1') hash.update(`blob ${(await stat(file)).size}\0`);
  await pipeline(createReadStream(file, { highWaterMark: 1024 * 1024 }), hash, { signal });
  return hash.digest('hex');
}
