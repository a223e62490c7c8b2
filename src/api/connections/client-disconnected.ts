import type { Response } from 'express';

/** Why a signal of {@link clientDisconnected} aborts. */
export const gone = new Error('the client has left');

/**
 * Aborts when the client leaves, or when the answer was sent. Made only where it is needed, because few requests wait
 * for anything.
 */
export function clientDisconnected(res: Response): AbortSignal {
  const controller = new AbortController();
  if (res.closed) controller.abort(gone);
  else res.once('close', () => controller.abort(gone));
  return controller.signal;
}
