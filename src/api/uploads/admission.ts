/** What can be said about an upload from its headers, before a byte of its body is read, in the decided order. */
import { findAccountInForce } from '../../../db/accounts.ts';
import { findIdempotencyRecord } from '../../../db/idempotency.ts';
import { countQueued } from '../../../db/sessions/sessions.ts';
import { availableMs } from '../../sessions/balance.ts';
import { ApiError } from '../answers/problem.ts';
import { fileTooLarge, formOverheadBytes } from './size.ts';
import { refuseFullDisk } from './storage.ts';
import type { IncomingHttpHeaders } from 'node:http';
import type { AccountInForce } from '../../../db/accounts.ts';
import type { Db } from '../../../db/database.ts';
import type { Foundation } from '../../context.ts';
import type { Principal } from '../context.ts';

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
  try {
    refuseFullQueue((await countQueued(db, accountId)) + inFlight, principal.queued_sessions);
    const account = await findAccountInForce(db, accountId);
    if (account !== undefined && availableMs(account) <= 0) throw insufficientBalance(account);
  } catch (refusal) {
    if (!(await isRepeat(db, accountId, headers['idempotency-key']))) throw refusal;
  }
  await refuseFullDisk(audioStore, config.minFreeDisk, announcedBytes);
}

/**
 * Whether an upload with this Idempotency-Key was accepted: then it is neither queued nor paid for again. Ask after what
 * a repeat is exempt from: the first upload may be committed between two looks at the database.
 */
export async function isRepeat(db: Db, accountId: string, key: string | string[] | undefined): Promise<boolean> {
  return typeof key === 'string' && (await findIdempotencyRecord(db, accountId, key)) !== undefined;
}

function refuseOtherMediaTypes(contentType = ''): void {
  const [type, ...parameters] = contentType.split(';').map((text) => text.trim());
  if (type!.toLowerCase() !== 'multipart/form-data') {
    throw new ApiError(415, 'unsupported_media', 'Send the audio as multipart/form-data.');
  }
  if (!parameters.some((parameter) => /^boundary=("[^"]+"|[^"].*)$/i.test(parameter))) {
    throw new ApiError(415, 'unsupported_media', 'The Content-Type multipart/form-data needs its boundary (RFC 7578).');
  }
}

/** @throws {ApiError} 429 `too_many_queued` when there is no room for one more */
export function refuseFullQueue(queued: number, limit: number): void {
  if (queued < limit) return;
  throw new ApiError(429, 'too_many_queued', `At most ${limit} sessions of this account may wait at once.`, {
    retryAfterSeconds: queueRetrySeconds,
  });
}

/** 402 `insufficient_balance`, with what is left and, once it is known, what this upload needs; both in ms. */
export function insufficientBalance(account: AccountInForce, requiredMs?: number): ApiError {
  return new ApiError(402, 'insufficient_balance', 'The transcription balance does not cover this audio.', {
    availableMs: availableMs(account),
    ...(requiredMs !== undefined && { requiredMs }),
  });
}
