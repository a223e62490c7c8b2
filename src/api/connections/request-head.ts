import { ApiError, invalidRequest } from '../answers/problem.ts';
import type { IncomingMessage } from 'node:http';

/** The characters of an authority (RFC 3986, section 3.2.2), except those of a user name. */
const authority = /^[\w.~!$&'()*+,;=%:[\]-]*$/;

/** Connections on which a request was refused. What follows may be a part of that request, so it is not handled. */
const distrusted = new WeakSet<IncomingMessage['socket']>();

/**
 * Refuses requests that Node's parser accepts, but that a proxy in front of us might understand differently.
 *
 * @throws {ApiError} 400 for HTTP/1.1 without a Host, and for a Host that is repeated or malformed (RFC 9112, section
 *   3.2)
 * @throws {ApiError} 505 for another version in the framing of HTTP/1.1, which Node's parser lets through
 * @throws {ApiError} 400 for another header of a single value that is repeated
 * @throws {ApiError} 400 for a body in a transfer coding that is not decoded here (section 6.1)
 */
export function refuseAmbiguousHead(req: IncomingMessage): void {
  if (req.httpVersionMajor !== 1) {
    distrusted.add(req.socket);
    throw otherVersion();
  }
  // Of a header that is repeated Node keeps the first value, or joins them, and a proxy may take the last.
  const repeated = singleValued.find((name) => (req.headersDistinct[name.toLowerCase()]?.length ?? 0) > 1);
  const fault = distrusted.has(req.socket) ? 'The request before it was refused.' : invalidHead(req, repeated);
  if (fault !== undefined) {
    distrusted.add(req.socket);
    throw new ApiError(400, 'invalid_request', fault, {}, { Connection: 'close' });
  }
  if (repeated !== undefined) throw invalidRequest({ in: 'header', name: repeated, message: 'is repeated' });
}

export const otherVersion = (): ApiError =>
  new ApiError(505, 'http_version_not_supported', 'This service speaks HTTP/1.1.', {}, { Connection: 'close' });

function invalidHead({ headers, httpVersion }: IncomingMessage, repeated: string | undefined): string | undefined {
  const { host, 'transfer-encoding': coding } = headers;
  const hasGoodHost = host === undefined ? httpVersion !== '1.1' : authority.test(host) && repeated !== 'Host';
  if (!hasGoodHost) return 'A request of HTTP/1.1 needs one header "Host".';
  const hasGoodCoding = coding === undefined || (coding.toLowerCase() === 'chunked' && httpVersion === '1.1');
  return hasGoodCoding ? undefined : 'The only "Transfer-Encoding" is "chunked", in HTTP/1.1.';
}

/** As people know them. A Host that is repeated is refused before all others. */
const singleValued = ['Host', 'Authorization', 'Content-Type', 'Idempotency-Key'];
