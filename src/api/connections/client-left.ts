/** Whether a client is still there. */
import type { Response } from 'express';

const gone = new Error('the client has left');

/** Aborts when the client leaves, or the answer is out. Made where it is asked for: few requests wait for anything. */
export function clientLeft(res: Response): AbortSignal {
  const controller = new AbortController();
  if (res.closed) controller.abort(gone);
  else res.once('close', () => controller.abort(gone));
  return controller.signal;
}
