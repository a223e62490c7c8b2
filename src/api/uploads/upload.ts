/** The course of an upload: admitted by its headers, received, accepted, and gone again unless it became a session. */
import { admitUpload } from './admission.ts';
import { receiveUpload } from './receiving.ts';
import { largestFileBytes } from './size.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context, Principal } from '../context.ts';
import type { UploadsInFlight } from './in-flight.ts';
import type { Upload } from './receiving.ts';

/**
 * @param inFlight counts it as long as it is under way, and waits for its end when the server stops
 * @param accept takes the file, or leaves it to be removed
 * @throws {ApiError} what `admitUpload` and `receiveUpload` throw
 */
export function takeUpload<Answer>(
  ctx: Context,
  inFlight: UploadsInFlight,
  { req, res, principal }: { req: IncomingMessage; res: ServerResponse; principal: Principal },
  accept: (upload: Upload) => Promise<Answer>,
): Promise<Answer> {
  return inFlight.run(async () => {
    const leave = inFlight.enter(principal.account_id);
    try {
      const isRepeat = await admitUpload(ctx, principal, req.headers, inFlight.of(principal.account_id) - 1);
      // It will be no session.
      if (isRepeat) leave();
      if (req.headers.expect !== undefined) res.writeContinue();
      const hash = req.headers['idempotency-key'] !== undefined;
      const maxBytes = isRepeat ? largestFileBytes : principal.max_upload_bytes;
      const upload = await receiveUpload(req, ctx, { maxBytes, hash, keep: !isRepeat });
      try {
        return await accept(upload);
      } finally {
        // A session by now, or nothing.
        leave();
        if (upload.file.path !== undefined) await ctx.audioStore.removeIncoming(upload.file.path);
      }
    } finally {
      leave();
    }
  });
}
