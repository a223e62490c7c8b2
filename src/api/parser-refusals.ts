/** What Node's HTTP parser refuses never reaches the app; it is answered as a problem all the same. */
import { randomUUIDv7 } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { ApiError, toProblem } from '../problem.ts';
import type { Duplex } from 'node:stream';

export function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const refusal = refusalOf(error.code);
  const requestId = randomUUIDv7();
  const body = JSON.stringify(toProblem(refusal, requestId));
  const head = [
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`,
    'Connection: close',
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    `X-Request-Id: ${requestId}`,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}

function refusalOf(code: string | undefined): ApiError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new ApiError(431, 'headers_too_large', 'The request line and headers are larger than 16 KiB.');
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new ApiError(408, 'request_timeout', 'The headers of the request did not arrive in time.');
  }
  return new ApiError(400, 'invalid_request', 'This is not a valid HTTP/1.1 request.');
}
