import { createHash } from 'node:crypto';
import type { UploadFields } from './form.ts';

/**
 * The hash by which a repeated upload is recognized: of the file's bytes and all fields of the form, but not of the
 * file's name. When the contract gets a new field, forms without it keep their fingerprint.
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
