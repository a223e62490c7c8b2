/**
 * The course of an upload: it is admitted by its headers, received and accepted. Its file is removed unless it became a
 * session.
 */
import { admitUpload } from './admission.ts';
import { receiveUpload } from './receiving.ts';
import { largestFileBytes } from './size.ts';
import type { IncomingMessage } from 'node:http';
import type { Context, Principal } from '../api-context.ts';
import type { Response } from '../response.ts';
import type { UploadsInFlight } from './in-flight.ts';
import type { Upload } from './receiving.ts';

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
  return inFlight.run(async () => {
    const leave = inFlight.enter(principal.account_id);
    try {
      const isRepeat = await admitUpload(ctx, principal, req.headers, inFlight.of(principal.account_id) - 1);
      // A repeat becomes no session, so it does not count.
      if (isRepeat) leave();
      if (req.headers.expect !== undefined) res.writeContinue();
      const hash = req.headers['idempotency-key'] !== undefined;
      const maxBytes = isRepeat ? largestFileBytes : principal.max_upload_bytes;
      res.locals.waitsSince = undefined;
      const upload = await receiveUpload(req, ctx, { maxBytes, hash, keep: !isRepeat });
      res.locals.waitsSince = performance.now();
      try {
        return await accept(upload);
      } finally {
        // By now the upload is a session, or it failed.
        leave();
        if (upload.file.path !== undefined) await ctx.spool.remove(upload.file.path);
      }
    } finally {
      leave();
    }
  });
}
