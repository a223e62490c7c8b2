import type { Request } from 'express';

/**
 * A request as openapi-backend takes it. The body stays on the wire until every check of the headers has passed; the empty
 * object stands for it until then.
 */
export function toBackendRequest(req: Request) {
  const query: Record<string, string | string[]> = Object.create(null);
  const parameters = queryOf(req);
  for (const name of new Set(parameters.keys())) {
    const values = parameters.getAll(name);
    query[name] = values.length === 1 ? values[0]! : values;
  }
  return {
    method: req.method === 'HEAD' ? 'GET' : req.method,
    path: req.path === '/openapi.json' ? '/v1/openapi.json' : decodable(req.path),
    query,
    headers: req.headers as Record<string, string | string[]>,
    body: {},
  };
}

export const queryOf = (req: Request): URLSearchParams => new URLSearchParams(req.url.split('?').slice(1).join('?'));

/** Where a `%` begins no UTF-8, each stands for itself: openapi-backend throws on it before any check. */
function decodable(path: string): string {
  try {
    decodeURIComponent(path);
    return path;
  } catch {
    return path.replaceAll('%', '%25');
  }
}
