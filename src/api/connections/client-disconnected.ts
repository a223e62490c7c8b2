import type { Response } from 'express';
import type { IncomingMessage } from 'node:http';

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

/** Requests whose client closed its half of the connection before the end of their body. It may still read the answer. */

const event = Symbol('the body was cut off');
const requests = new WeakSet<IncomingMessage>();

/** The request is answered by the app, which knows what it asks for, and whether anybody needs its body. */
export function cutOff(req: IncomingMessage): void {
  requests.add(req);
  req.emit(event);
}

export const isCutOff = (req: IncomingMessage): boolean => requests.has(req);

/** @param then called when the rest of the body is known not to come @returns call it to hear no more */
export function onCutOff(req: IncomingMessage, then: () => void): () => void {
  req.once(event, then);
  return () => void req.off(event, then);
}
