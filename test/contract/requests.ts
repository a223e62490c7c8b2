/** Requests made from the operations of the contract, and how they are sent. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { invalidValues, validValues } from './arbitraries.ts';
import type { Arbitrary } from 'fast-check';
import type { Schema, Values } from './arbitraries.ts';

interface Parameter {
  $ref?: string;
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  schema: Schema;
  example?: unknown;
}

export interface Operation {
  operationId: string;
  method: string;
  path: string;
  parameters: Parameter[];
}

export interface FuzzedRequest {
  method: string;
  path: string;
  query: [name: string, value: string][];
  headers: Record<string, string>;
}

interface Declared {
  operationId: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: { $ref?: string; properties?: Record<string, Schema> } }> };
}

interface Contract {
  paths: Record<string, Record<string, Declared>>;
}

export const contract = JSON.parse(
  readFileSync(new URL('../../codegen/openapi.json', import.meta.url), 'utf8'),
) as Contract;

export const operations: Operation[] = Object.entries(contract.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { operationId, parameters = [] }]) => ({
    ...{ operationId, method: method.toUpperCase(), path },
    parameters: parameters
      .map(inPlace)
      .map((parameter) => ({ ...parameter, schema: withItems(inPlace(parameter.schema)) })),
  })),
);

function withItems(schema: Schema): Schema {
  return schema.items ? { ...schema, items: inPlace(schema.items) } : schema;
}

function inPlace<T extends { $ref?: string }>(value: T): T {
  if (value.$ref === undefined) return value;
  return value.$ref
    .slice(2)
    .split('/')
    .reduce<unknown>((node, name) => (node as Record<string, unknown>)[name], contract) as T;
}

/** The fields of the form of an operation. */
export function bodySchema(operationId: string): Record<string, Schema> {
  const declared = Object.values(contract.paths).flatMap((methods) => Object.values(methods));
  const { requestBody } = declared.find((operation) => operation.operationId === operationId)!;
  return inPlace(requestBody!.content['multipart/form-data']!.schema).properties!;
}

/** Any subset of the parameters, each valid. @param known values to use for a parameter instead of random ones */
export function validRequest(
  operation: Operation,
  known: Record<string, Arbitrary<Values>> = {},
): Arbitrary<FuzzedRequest> {
  const values = operation.parameters.map((parameter) => {
    const given = known[parameter.name] ?? sendable(parameter, validValues(parameter.schema));
    return parameter.required ? given : fc.option(given, { nil: [] });
  });
  return fc.tuple(...values).map((chosen) => build(operation, chosen));
}

/** A valid request with one parameter that is not, or one that the contract does not know; and which. */
export function invalidRequest(operation: Operation): Arbitrary<{ request: FuzzedRequest; culprit: string }> {
  const unknown = fc
    .tuple(validRequest(operation), fc.stringMatching(/^[a-zA-Z_]{1,20}$/), fc.string({ maxLength: 10 }))
    .filter(([, name]) => !operation.parameters.some((parameter) => parameter.name === name))
    .map(([request, name, value]) => ({
      request: { ...request, query: [...request.query, [name, value] as [string, string]] },
      culprit: name,
    }));
  const broken = operation.parameters.map((parameter, index) =>
    fc
      .tuple(
        sendable(parameter, invalidValues(parameter.schema)),
        ...operation.parameters.map((other) => sendable(other, validValues(other.schema))),
      )
      .map(([wrong, ...valid]) => ({ request: build(operation, valid.with(index, wrong)), culprit: parameter.name })),
  );
  return ignoresUnknown(operation) ? fc.oneof(...broken) : fc.oneof(unknown, ...broken);
}

/** So that a cache can be got past. */
const ignoresUnknown = ({ operationId }: Operation) => operationId === 'getOpenApi';

/** Outside the query a value comes alone, not empty, and without the white space around it that HTTP takes away. */
function sendable(parameter: Parameter, values: Arbitrary<Values>): Arbitrary<Values> {
  if (parameter.in === 'query') return values;
  return values.filter((some) => some.length === 1 && some[0]!.trim() === some[0] && some[0] !== '');
}

function build(operation: Operation, chosen: Values[]): FuzzedRequest {
  const request: FuzzedRequest = { method: operation.method, path: operation.path, query: [], headers: {} };
  operation.parameters.forEach((parameter, index) => {
    for (const value of chosen[index]!) {
      if (parameter.in === 'query') request.query.push([parameter.name, value]);
      else if (parameter.in === 'header') request.headers[parameter.name] = value;
      else request.path = request.path.replace(`{${parameter.name}}`, encodeURIComponent(value));
    }
  });
  return request;
}

export interface Answered {
  status: number;
  headers: Headers;
  body: { code?: string; errors?: { name: string }[] } & Record<string, unknown>;
}

/** Sends a request and fails when its answer is a fault of the server, as one is that breaks the contract. */
export async function send(
  url: string,
  { method, path, query, headers }: FuzzedRequest,
  key: string,
  body?: FormData,
): Promise<Answered> {
  const target = `/v1${path}${query.length > 0 ? `?${new URLSearchParams(query)}` : ''}`;
  const response = await fetch(url + target, {
    method,
    headers: { Authorization: `Bearer ${key}`, ...headers },
    ...(body && { body }),
  });
  const text = await response.text();
  if (response.status >= 500) throw new Error(`${method} ${target} → ${response.status}: ${text}`);
  const isJson = text !== '' && (response.headers.get('content-type')?.includes('json') ?? false);
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : {} };
}

/** How many cases each property gets (`./scripts/test --cases N`), and the seed to repeat a run (`FUZZ_SEED`). */
export const cases = Number(process.env.FUZZ_CASES ?? 100);
export const seed = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31);
