import type { Request } from 'express';

/**
 * A request as openapi-backend takes it. The body stays on the wire until every check of the headers has passed; the empty
 * object stands for it until then.
 */
export function toBackendRequest(req: Request) {
  const query: Record<string, string | string[]> = Object.create(null);
  const parameters = new URLSearchParams(req.url.split('?').slice(1).join('?'));
  for (const name of new Set(parameters.keys())) {
    const values = parameters.getAll(name);
    query[name] = values.length === 1 ? values[0]! : values;
  }
  return {
    method: req.method === 'HEAD' ? 'GET' : req.method,
    path: req.path === '/openapi.json' ? '/v1/openapi.json' : req.path,
    query,
    headers: req.headers as Record<string, string | string[]>,
    body: {},
  };
}
