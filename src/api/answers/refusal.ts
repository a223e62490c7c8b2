/**
 * Refusing a request whose body is still on its way. Closing at once would reset the connection, and most clients would
 * never see the answer; reading on would let anyone send for ever. So the answer goes out, our half of the connection is
 * closed, and a little more is read and dropped.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

const maxDroppedBytes = 4 * 1024 * 1024;
const maxDropMs = 2_000;

/** Ends an answer whose headers, `Content-Length` included, are set; gently, when it came before the end of its request. */
export function endAnswer(req: IncomingMessage, res: ServerResponse, body: Buffer = Buffer.of()): void {
  if (!isBodyUnread(req)) {
    res.end(body);
    return;
  }
  // Behind other requests on the same connection (pipelining) it waits for its turn.
  if (res.socket === null) res.once('socket', () => refuse(req, res, body));
  else refuse(req, res, body);
}

function refuse(req: IncomingMessage, res: ServerResponse, body: Buffer): void {
  res.setHeader('Connection', 'close');
  const { socket } = req;
  // Not `res.end`: it would close the whole connection as soon as the answer is out.
  res.write(body);
  socket.end();

  let dropped = 0;
  const timer = setTimeout(() => socket.destroy(), maxDropMs);
  socket.once('close', () => clearTimeout(timer));
  req.on('data', (chunk: Buffer) => {
    dropped += chunk.length;
    if (dropped >= maxDroppedBytes) socket.destroy();
  });
  req.once('end', () => socket.destroy());
  req.once('error', () => socket.destroy());
  req.resume();
}

/** Whether more of the request is to come, which is when an answer is a refusal of the rest. */
export function isBodyUnread(req: IncomingMessage): boolean {
  const announced = req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;
  return announced && !req.readableEnded && !req.destroyed;
}
