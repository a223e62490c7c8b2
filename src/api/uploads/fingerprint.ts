import { createHash } from 'node:crypto';
import type { UploadFields } from './form.ts';

/**
 * What a repeated upload is known by: the file's bytes and every field of its form. The file's name doesn't count. Fields
 * that the contract gets later leave the fingerprints of forms without them as they are.
 *
 * @param fileSha256 of the file's bytes
 * @returns a SHA-256
 */
export function fingerprintOf(fileSha256: Buffer, { durationMs, ...others }: UploadFields): Buffer {
  const hash = createHash('sha256')
    .update(fileSha256)
    .update(String(durationMs ?? ''));
  const named = Object.entries(others).sort(([one], [other]) => (one < other ? -1 : 1));
  if (named.length > 0) hash.update(`\n${JSON.stringify(named)}`);
  return hash.digest();
}
