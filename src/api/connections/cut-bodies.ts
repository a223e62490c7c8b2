/** Requests whose client closed its half of the connection before the end of their body. It may still read the answer. */
import type { IncomingMessage } from 'node:http';

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
