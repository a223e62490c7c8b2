/**
 * The course of an upload: it is admitted by its headers, received and accepted. Its file is removed unless it became a
 * session.
 */
import { largestFileBytes, fileTooLarge, formOverheadBytes } from './form.ts';
import { receiveUpload } from './receiving.ts';
import { MIMEType } from 'node:util';
import { availableMs, findQuota } from '../../../db/accounts/accounts.ts';
import { findIdempotencyRecord } from '../../../db/sessions/idempotency.ts';
import { ApiError } from '../answers/problem.ts';
import { refuseFullDisk } from './storage.ts';
import type { IncomingMessage, IncomingHttpHeaders } from 'node:http';
import type { Context, Principal } from '../handler.ts';
import type { Response } from '../response.ts';
import type { Upload } from './receiving.ts';
import type { AccountWithLimits } from '../../../db/accounts/accounts.ts';

interface InFlight {
  readonly accountId: string;
  /** Whether it may become one more session of its account. */
  counts: boolean;
  /** Resolves when nothing of it is left to do. */
  readonly ended: Promise<void>;
}

/**
 * Uploads that this process is receiving. They count as queued sessions of their account although they are no sessions
 * yet.
 */
export class UploadsInFlight {
  readonly #all = new Set<InFlight>();

  /** Of all accounts. */
  get count(): number {
    return this.#all.size;
  }

  of(accountId: string): number {
    return this.#all.values().reduce((sum, one) => sum + Number(one.counts && one.accountId === accountId), 0);
  }

  /** Receives an upload, which counts from now on. @param receive also removes its file if it is not used */
  async run<Result>(accountId: string, receive: (upload: InFlight) => Promise<Result>): Promise<Result> {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const upload = { accountId, counts: true, ended };
    this.#all.add(upload);
    try {
      return await receive(upload);
    } finally {
      this.#all.delete(upload);
      resolve();
    }
  }

  /**
   * Resolves when all have ended, whether or not they succeeded. A process that ends earlier leaves incomplete files.
   */
  async ended(): Promise<void> {
    await Promise.all(this.#all.values().map(({ ended }) => ended));
  }
}

/**
 * @param inFlight counts the upload while it is under way; a stopping server waits for it
 * @param accept takes the file over, or leaves it to be removed
 * @throws {ApiError} what `admitUpload` and `receiveUpload` throw
 */
export function takeUpload<Answer>(
  ctx: Context,
  inFlight: UploadsInFlight,
  { req, res, principal }: { req: IncomingMessage; res: Response; principal: Principal },
  accept: (upload: Upload) => Promise<Answer>,
): Promise<Answer> {
  const accountId = principal.account_id;
  return inFlight.run(accountId, async (upload) => {
    const boundary = boundaryOf(req.headers['content-type']);
    const isRepeat = await admitUpload(ctx, principal, req.headers, inFlight.of(accountId) - 1);
    // A repeat becomes no session.
    upload.counts = !isRepeat;
    // RFC 9110, section 10.1.1: not for another expectation, nor for HTTP/1.0.
    const isAwaited = req.headers.expect?.toLowerCase() === '100-continue' && req.httpVersion === '1.1';
    if (isAwaited) res.writeContinue();
    const hash = req.headers['idempotency-key'] !== undefined;
    const maxBytes = isRepeat ? largestFileBytes : principal.max_upload_bytes;
    res.locals.waitsSince = undefined;
    const received = await receiveUpload(req, ctx, { boundary, maxBytes, hash, keep: !isRepeat });
    res.locals.waitsSince = performance.now();
    try {
      return await accept(received);
    } finally {
      // By now the upload is a session, or it failed.
      upload.counts = false;
      if (received.file.path !== undefined) await ctx.spool.remove(received.file.path);
    }
  });
}

/** The checks of an upload by its headers, in their order. They are made before a byte of its body is read. */

const queueRetrySeconds = 30;
/** Any length is taken, but only the characters of RFC 2046, section 5.1.1. */
const boundaryPattern = /^[\w'()+,\-./:=? ]*[\w'()+,\-./:=?]$/;

/**
 * Admits an upload. A repeat of an accepted upload is neither stored, queued nor paid for, so limits, queue, balance
 * and disk do not matter.
 *
 * @param inFlight how many other uploads of this account this process is receiving
 * @returns whether it is a repeat
 * @throws {ApiError} 415 `unsupported_media`, 400 `invalid_request` without a body, 413 `file_too_large`, 429
 *   `too_many_queued`, 402 `insufficient_balance`, 503 `unavailable`
 */
async function admitUpload(
  { db, audioStore, spool, config }: Pick<Context, 'db' | 'audioStore' | 'spool' | 'config'>,
  principal: Principal,
  headers: IncomingHttpHeaders,
  inFlight: number,
): Promise<boolean> {
  refuseEncodedBody(headers['content-encoding']);
  refuseMissingBody(headers);
  const accountId = principal.account_id;
  const key = headers['idempotency-key'] as string | undefined;
  const isRepeat = async () => (await findIdempotencyRecord(db, accountId, key)) !== undefined;
  if (await isRepeat()) return true;
  const announcedBytes = Number(headers['content-length'] ?? 0);
  try {
    if (announcedBytes > principal.max_upload_bytes + formOverheadBytes) throw fileTooLarge(principal.max_upload_bytes);
    const account = await findQuota(db, accountId);
    refuseFullQueue((account?.queued ?? 0) + inFlight, principal.queued_sessions);
    if (account !== undefined && availableMs(account) <= 0) throw insufficientBalance(account);
    // A store that is gone is not where this upload would be kept. One that is back lacks no folder.
    await audioStore.open();
    await spool.open();
    await refuseFullDisk(spool, config.minFreeDisk, announcedBytes);
    return false;
  } catch (refusal) {
    // Meanwhile the first upload with this key may have been accepted.
    if (await isRepeat()) return true;
    throw refusal;
  }
}

/** @throws {ApiError} 415 `unsupported_media` where it is no form, or one without a boundary that can be used */
function boundaryOf(contentType = ''): string {
  const type = mediaType(contentType);
  if (type?.essence !== 'multipart/form-data') {
    const detail = 'Send the audio as multipart/form-data.';
    throw unsupportedHeader('Content-Type', 'must be multipart/form-data', detail);
  }
  const boundary = type.params.get('boundary') ?? '';
  if (!boundaryPattern.test(boundary)) {
    const detail = 'The Content-Type multipart/form-data needs its boundary (RFC 7578).';
    throw unsupportedHeader('Content-Type', 'needs its boundary', detail);
  }
  return boundary;
}

function mediaType(text: string): MIMEType | undefined {
  try {
    return new MIMEType(text);
  } catch {
    return undefined;
  }
}

/** RFC 9112, section 6.3: a request that gives neither has no body. */
function refuseMissingBody(headers: IncomingHttpHeaders): void {
  if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) return;
  throw new ApiError(400, 'invalid_request', 'The request has no body: it needs Content-Length or chunks.');
}

/** RFC 9110, section 15.5.16: the answer names the codings that are accepted. `identity` means none. */
function refuseEncodedBody(contentEncoding = 'identity'): void {
  if (contentEncoding.trim().toLowerCase() === 'identity') return;
  const detail = 'Send the form without Content-Encoding: a compressed body is not read.';
  throw unsupportedHeader('Content-Encoding', 'must be left out', detail, { 'Accept-Encoding': 'identity' });
}

/** With `errors`, so that programs can tell it from a file that is no audio. */
function unsupportedHeader(name: string, message: string, detail: string, headers?: Record<string, string>): ApiError {
  return new ApiError(415, 'unsupported_media', detail, { errors: [{ in: 'header', name, message }] }, headers);
}

/** @throws {ApiError} 429 `too_many_queued` when there is no room for one more */
export function refuseFullQueue(queued: number, limit: number): void {
  if (queued < limit) return;
  throw new ApiError(429, 'too_many_queued', `At most ${limit} sessions of this account may wait at once.`, {
    retryAfterSeconds: queueRetrySeconds,
  });
}

/** 402 `insufficient_balance`, with what is left and, once it is known, what this upload needs; both in ms. */
export function insufficientBalance(account: AccountWithLimits, requiredMs?: number): ApiError {
  const available = availableMs(account);
  const needs = requiredMs === undefined ? '' : `, and this audio is ${inWords(requiredMs)} long`;
  const detail = `The transcription balance does not cover this audio: ${inWords(Math.max(0, available))} are left${needs}.`;
  return new ApiError(402, 'insufficient_balance', detail, {
    availableMs: available,
    ...(requiredMs !== undefined && { requiredMs }),
  });
}

/** A duration for people: `1 h 5 min 2.5 s`. */
function inWords(ms: number): string {
  const [hours, minutes, seconds] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, (ms % 60_000) / 1000];
  const parts = [hours > 0 && `${hours} h`, minutes > 0 && `${minutes} min`, seconds > 0 && `${seconds} s`];
  return parts.filter(Boolean).join(' ') || '0 s';
}
