/** Answers what Node's HTTP parser refuses. Such requests never reach the app, but get a problem, too. */
import { randomUUIDv7 } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { ApiError, toProblem } from '../answers/problem.ts';
import { cutOff } from './client-disconnected.ts';
import { otherVersion } from './request-head.ts';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

const maxLingerMs = 2_000;

interface ParserError extends NodeJS.ErrnoException {
  /** The bytes in which the fault was found, and where. */
  rawPacket?: Buffer;
  bytesParsed?: number;
}

/** @param server whose refusals are answered from now on @param origins whose pages may call */
export function answerParserRefusals(server: Server, origins: readonly string[] = []): void {
  /** The last answer of each connection. */
  const lastAnswers = new WeakMap<Duplex, ServerResponse>();
  const refused = new WeakSet<Duplex>();

  const remember = (req: IncomingMessage, res: ServerResponse) => void lastAnswers.set(req.socket, res);
  server.on('request', remember).on('checkContinue', remember).on('checkExpectation', remember);
  // CONNECT asks for a tunnel to another server.
  server.on('connect', (_req, socket) => {
    socket.on('error', () => socket.destroy());
    refuse(socket, new ApiError(404, 'route_not_found', 'There is nothing at this path.'));
  });
  server.on('clientError', (error: ParserError, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    // Node repeats the event for all that comes after the first fault.
    if (refused.has(socket)) return;
    refused.add(socket);
    const last = lastAnswers.get(socket);
    const isCut = error.code === 'HPE_INVALID_EOF_STATE' && last !== undefined && !last.req.complete;
    if (isCut && !last.headersSent) cutOff(last.req);
    else inTurn(last, socket, () => refuse(socket, refusalOf(error), corsHeaders(error, origins)));
  });
}

/**
 * Waits until a refusal can't be taken for the answer to an earlier request on the same connection, or for a part of
 * its body.
 *
 * @param last the answer before it, or the answer to the request whose body is broken
 */
function inTurn(last: ServerResponse | undefined, socket: Duplex, refuseNow: () => void): void {
  if (last === undefined || last.writableFinished) refuseNow();
  else if (last.req.complete) last.once('finish', refuseNow);
  else if (last.headersSent) socket.destroy();
  else if (last.socket === null) last.once('socket', refuseNow);
  else refuseNow();
}

function refuse(socket: Duplex, refusal: ApiError, headers: readonly string[] = []): void {
  if (!socket.writable) return;
  const requestId = randomUUIDv7();
  const body = JSON.stringify(toProblem(refusal, requestId));
  const head = [
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`,
    `Date: ${new Date().toUTCString()}`,
    'Connection: close',
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    `X-Request-Id: ${requestId}`,
    ...headers,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  // A client that does not close its half would keep the connection for ever.
  const timer = setTimeout(() => socket.destroy(), maxLingerMs);
  socket.once('close', () => clearTimeout(timer));
}

function refusalOf(error: ParserError): ApiError {
  const { code } = error;
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new ApiError(431, 'headers_too_large', 'The request line and headers are larger than 16 KiB, or too many.');
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new ApiError(408, 'request_timeout', 'The headers of the request did not arrive in time.');
  }
  if (code === 'HPE_PAUSED_H2_UPGRADE') return otherVersion();
  const line = requestLineOf(error);
  if (code === 'HPE_INVALID_VERSION' && /^\S+ \S+ HTTP\/\d\.\d$/.test(line)) return otherVersion();
  if (code === 'HPE_INVALID_METHOD' && /^[\w!#$%&'*+.^`|~-]+ \S+ HTTP\/1\.[01]$/.test(line)) {
    return new ApiError(501, 'not_implemented', 'This service knows no such method.');
  }
  return new ApiError(400, 'invalid_request', 'This is not a valid HTTP/1.1 request.');
}

/** A browser shows its page no answer without them. The origin may have come in an earlier packet than what is too much. */
function corsHeaders({ code, rawPacket }: ParserError, origins: readonly string[]): string[] {
  const guess = code === 'HPE_HEADER_OVERFLOW' ? origins[0] : undefined;
  const origin = /^origin: *(\S+)/im.exec(rawPacket?.toString('latin1') ?? '')?.[1] ?? guess;
  return origins
    .filter((each) => each === origin)
    .flatMap((each) => [`Access-Control-Allow-Origin: ${each}`, 'Vary: Origin']);
}

/** The line in which the fault is. Where it came in several packets, it is a part of it. */
function requestLineOf({ rawPacket = Buffer.alloc(0), bytesParsed = 0 }: ParserError): string {
  const end = rawPacket.subarray(0, bytesParsed).lastIndexOf('\r\n');
  return rawPacket.toString('latin1', end === -1 ? 0 : end + 2).split('\r\n', 1)[0]!;
}
