import type { Request } from 'express';

const pathOfContract = '/v1/openapi.json';
const unreserved = /^[\w.~-]$/;

/**
 * A request as openapi-backend takes it. The body is not read before every check of the headers has passed. Until then
 * an empty object takes its place.
 */
export function toBackendRequest(req: Request) {
  const path = req.path === '/openapi.json' ? pathOfContract : decodable(req.path);
  return {
    method: req.method === 'HEAD' ? 'GET' : req.method,
    path,
    // Whoever wants no cache to answer adds something to the address of the contract.
    query: path === pathOfContract ? {} : queryOf(req.url),
    headers: req.headers as Record<string, string | string[]>,
    body: {},
  };
}

/** The values of a name that is repeated, as an array. */
function queryOf(url: string): Record<string, string | string[]> {
  const start = url.indexOf('?');
  if (start === -1) return {};
  const parameters = new URLSearchParams(url.slice(start + 1));
  const names = [...new Set(parameters.keys())];
  return Object.fromEntries(
    names.map((name) => {
      const values = parameters.getAll(name);
      return [name, values.length === 1 ? values[0]! : values];
    }),
  );
}

/** A `%` that begins no UTF-8 is kept as a character: openapi-backend would throw on it before any check. */
function decodable(path: string): string {
  try {
    decodeURIComponent(path);
    return path;
  } catch {
    return path.replaceAll('%', '%25');
  }
}

/**
 * A request target whose path has letters, digits and `-._~` as they are: encoded they mean the same (RFC 3986, section
 * 6.2.2.2). Its query is left alone, since whoever reads it decodes it.
 */
export function withoutNeedlessEncoding(target: string): string {
  const end = target.indexOf('?');
  const path = end === -1 ? target : target.slice(0, end);
  if (!path.includes('%')) return target;
  const decoded = path.replaceAll(/%[0-9a-f]{2}/gi, (encoded) => {
    const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
    return unreserved.test(character) ? character : encoded;
  });
  return decoded + target.slice(path.length);
}
