/** What can be said about an upload from its headers, before a byte of its body is read, in the decided order. */
import { findAccountInForce } from '../db/accounts.ts';
import { findIdempotencyRecord } from '../db/idempotency.ts';
import { countQueued } from '../db/sessions.ts';
import { ApiError } from './problem.ts';
import { fileTooLarge } from './upload.ts';
import { refuseFullDisk } from './upload-storage.ts';
import type { IncomingHttpHeaders } from 'node:http';
import type { AccountInForce } from '../db/accounts.ts';
import type { Foundation, Principal } from './context.ts';

/** What a form may weigh beside its file. */
const formOverheadBytes = 64 * 1024;
const queueRetrySeconds = 30;

/**
 * @param inFlight other uploads of this account that this process is receiving
 * @throws {ApiError} 415 `unsupported_media`, 413 `file_too_large`, 429 `too_many_queued`, 402 `insufficient_balance`,
 *   503 `unavailable`
 */
export async function admitUpload(
  { db, audioStore, config }: Foundation,
  principal: Principal,
  headers: IncomingHttpHeaders,
  inFlight: number,
): Promise<void> {
  refuseOtherMediaTypes(headers['content-type']);
  const announcedBytes = Number(headers['content-length'] ?? 0);
  if (announcedBytes > principal.max_upload_bytes + formOverheadBytes) throw fileTooLarge(principal.max_upload_bytes);

  const accountId = principal.account_id;
  const key = headers['idempotency-key'];
  const isRepeat = typeof key === 'string' && (await findIdempotencyRecord(db, accountId, key)) !== undefined;
  if (!isRepeat) {
    refuseFullQueue((await countQueued(db, accountId)) + inFlight, principal.queued_sessions);
    const account = await findAccountInForce(db, accountId);
    if (account !== undefined && availableMs(account) <= 0) throw insufficientBalance(account);
  }
  await refuseFullDisk(audioStore, config.minFreeDisk, announcedBytes);
}

function refuseOtherMediaTypes(contentType: string | undefined): void {
  if (contentType?.split(';')[0]?.trim().toLowerCase() !== 'multipart/form-data') {
    throw new ApiError(415, 'unsupported_media', 'Send the audio as multipart/form-data.');
  }
}

/** @throws {ApiError} 429 `too_many_queued` when there is no room for one more */
export function refuseFullQueue(queued: number, limit: number): void {
  if (queued < limit) return;
  throw new ApiError(429, 'too_many_queued', `At most ${limit} sessions of this account may wait at once.`, {
    retryAfterSeconds: queueRetrySeconds,
  });
}

/** The balance less what is reserved, in ms; may be negative. */
export const availableMs = (account: Pick<AccountInForce, 'balance_ms' | 'reserved_ms'>): number =>
  account.balance_ms - account.reserved_ms;

export function insufficientBalance(account: AccountInForce, requiredMs?: number): ApiError {
  return new ApiError(402, 'insufficient_balance', 'The transcription balance does not cover this audio.', {
    availableMs: availableMs(account),
    ...(requiredMs !== undefined && { requiredMs }),
  });
}
