/** openapi-backend as this service uses it. */
import addFormats from 'ajv-formats';
import { OpenAPIBackend } from 'openapi-backend';
import { contractFile, contract, resolve } from './document.ts';
import type { Context as Call, OpenAPIRouter, Options } from 'openapi-backend';
import type { Scope } from '../../../db/schema.ts';
import type { Request } from 'express';
import type { Json } from './document.ts';

const apiRoot = '/v1';
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The contract, ready to route and check requests below `/v1`. Parameters are coerced and filled with their defaults. */
export async function loadBackend(
  use: Required<Pick<Options, 'handlers' | 'securityHandlers'>>,
): Promise<OpenAPIBackend> {
  const backend = new OpenAPIBackend({
    ...use,
    definition: contractFile,
    apiRoot,
    // Otherwise, a contract that can't be read would give a router without routes.
    strict: true,
    ignoreTrailingSlashes: false,
    coerceTypes: true,
    // The linter checks the contract, and validators of answers are of no use here. To check the one and
    // to compile the others was a third of what the start of a process took.
    quick: true,
    ajvOpts: { useDefaults: true, allErrors: true, validateSchema: false, meta: false },
    customizeAjv: (ajv) => addFormats.default(ajv).addFormat('uuid', uuid),
  });
  await backend.init();
  // Otherwise, the first request of each operation would wait for this.
  backend.validator.preCompileRequestValidators();
  // It would make them anew several times for each request, which took longer than all else that it does.
  const operations = backend.router.getOperations();
  for (const router of [backend.router, backend.validator.router]) router.getOperations = () => operations;
  return backend;
}

/** The value of `Allow` for a path of the contract (RFC 9110, section 10.2.1). */
export function allowedMethods(router: OpenAPIRouter, path: string): string {
  const methods = router
    .getOperations()
    .filter(({ method, path: own }) => router.matchOperation({ method, path, headers: {} })?.path === own)
    .map(({ method }) => method.toUpperCase());
  return [...new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))].join(', ');
}

/** The path of the contract that somebody means who forgets the version, names another one or more, or adds a slash. */
export function routeMeantBy(router: OpenAPIRouter, path: string): string | undefined {
  const meant = apiRoot + path.replace(/^(.*\/v\d+)?(?=\/)/, '').replace(/\/+$/, '');
  const found = ['get', 'post'].map((method) => router.matchOperation({ method, path: meant, headers: {} }));
  const route = found.find((operation) => operation !== undefined);
  return route && apiRoot + route.path;
}

/** Which scope an operation that asks for a key wants. */
export function requiredScope({ operation }: Call): Scope {
  return (operation as { 'x-required-scope'?: Scope })['x-required-scope']!;
}

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

/** Query parameters that take several values. */
const lists = new Set(
  Object.values(contract.paths!)
    .flatMap((path) => Object.values(path))
    .flatMap(({ parameters }) => ((parameters ?? []) as unknown as Json[]).map(resolve))
    .filter(({ schema }) => (schema?.type as unknown) === 'array')
    .map(({ name }) => name as unknown as string),
);

/**
 * The values of a name that is repeated, as an array. A list is repeated, as OpenAPI's `explode` has it, or separated by commas,
 * as several generators send it.
 */
function queryOf(url: string): Record<string, string | string[]> {
  const start = url.indexOf('?');
  if (start === -1) return {};
  const parameters = new URLSearchParams(url.slice(start + 1));
  const names = [...new Set(parameters.keys())];
  return Object.fromEntries(
    names.map((name) => {
      const values = parameters.getAll(name);
      if (lists.has(name)) return [name, values.flatMap((value) => value.split(','))];
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
 * 6.2.2.2). Its query stays as it is; the parser decodes it.
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
