/**
 * Refuses a request whose body is still on its way. If the connection were closed at once, it would be reset, and most
 * clients would never see the answer. If the body were read to its end, a client could send for ever. So the answer is
 * sent, our half of the connection is closed, and a little more is read and dropped. Then no more is read for a moment: a
 * client or proxy that can send no more looks whether there is an answer, and one that meets an error may not.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

const maxDroppedBytes = 4 * 1024 * 1024;
const maxDropMs = 2_000;
/** For who could send no more to look. */
const maxPauseMs = 500;

/**
 * Ends an answer whose headers are set, including `Content-Length`. When the request has not ended yet, it is ended as
 * a refusal.
 */
export function endAnswer(req: IncomingMessage, res: ServerResponse, body = ''): void {
  if (!isBodyUnread(req)) {
    res.end(body);
    return;
  }
  // With pipelining, the answer waits for those to earlier requests on its connection.
  if (res.socket === null) res.once('socket', () => refuse(req, res, body));
  else refuse(req, res, body);
}

function refuse(req: IncomingMessage, res: ServerResponse, body: string): void {
  res.setHeader('Connection', 'close');
  const { socket } = req;
  // Not `res.end`, which would close the whole connection as soon as the answer is sent.
  res.write(body);
  socket.end();

  let dropped = 0;
  const closeIn = (ms: number) => setTimeout(() => socket.destroy(), ms);
  let timer = closeIn(maxDropMs);
  socket.once('close', () => clearTimeout(timer));
  req.on('data', (chunk: Buffer) => {
    dropped += chunk.length;
    if (dropped < maxDroppedBytes) return;
    req.pause();
    clearTimeout(timer);
    timer = closeIn(maxPauseMs);
  });
  req.once('end', () => socket.destroy());
  req.once('error', () => socket.destroy());
  req.resume();
}

/** Whether more of the request is on its way. Then an answer is a refusal. */
export function isBodyUnread(req: IncomingMessage): boolean {
  const announced = req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;
  return announced && !req.readableEnded && !req.destroyed;
}
