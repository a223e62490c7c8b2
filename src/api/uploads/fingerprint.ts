import { createHash } from 'node:crypto';
import type { UploadFields } from './form.ts';

/** The file's name is none of the fields. */
const hints = ['durationMs'];

/**
 * The hash by which a repeated upload is recognized: of the file's bytes and the fields of the form that change what
 * becomes of it. When the contract gets a new field, forms without it keep their fingerprint.
 *
 * @param fileSha256 of the file's bytes
 * @returns a SHA-256
 */
export function fingerprintOf(fileSha256: Buffer, fields: UploadFields): Buffer {
  const hash = createHash('sha256').update(fileSha256);
  const named = Object.entries(fields)
    .filter(([name]) => !hints.includes(name))
    .sort(([one], [other]) => (one < other ? -1 : 1));
  if (named.length > 0) hash.update(`\n${JSON.stringify(named)}`);
  return hash.digest();
}
