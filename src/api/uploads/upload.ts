/**
 * The course of an upload: it is admitted by its headers, received and accepted. Its file is removed unless it became a
 * session.
 */
import { admitUpload } from './admission.ts';
import { largestFileBytes } from './form.ts';
import { receiveUpload } from './receiving.ts';
import type { IncomingMessage } from 'node:http';
import type { Context, Principal } from '../api-context.ts';
import type { Response } from '../response.ts';
import type { Upload } from './receiving.ts';

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
    const { boundary, isRepeat } = await admitUpload(ctx, principal, req.headers, inFlight.of(accountId) - 1);
    // A repeat becomes no session.
    upload.counts = !isRepeat;
    if (req.headers.expect !== undefined) res.writeContinue();
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
