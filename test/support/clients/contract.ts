/** What is wrong with an answer, by the contract: its status, media type, headers and body, to the last field. */
import Ajv from 'ajv';
import addFormats from 'ajv-formats';
import { contract, resolve } from '../../../src/api/contract/document.ts';
import type { ValidateFunction } from 'ajv';
import type { Json } from '../../../src/api/contract/document.ts';

export interface SeenAnswer {
  method: string;
  /** With or without query. */
  path: string;
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

const ajv = addFormats.default(new Ajv.default({ strict: false, allErrors: true, coerceTypes: false }));
const ajvOfHeaders = addFormats.default(new Ajv.default({ strict: false, coerceTypes: true }));
const compiled = new Map<typeof ajv, Map<string, ValidateFunction>>();

/** Declared as `default`, with 404 and 408, which operations declare too. */
const refusalsOfAnyRequest = [431, 501, 505];

/** @throws an error that lists every violation */
export function assertConforms(answer: SeenAnswer): void {
  const faults = violations(answer);
  if (faults.length === 0) return;
  const what = `${answer.method} ${answer.path} → ${answer.status}`;
  throw new Error(
    `${what} breaks the contract:\n${faults.map((fault) => `  - ${fault}`).join('\n')}\n${answer.text.slice(0, 500)}`,
  );
}

/**
 * @returns what is wrong with an answer; nothing when it conforms. A path outside the contract may only be answered
 *   with its own refusals
 */
function violations(answer: SeenAnswer): string[] {
  const path = answer.path.split('?')[0]!;
  const template = templateOf(path);
  const method = answer.method === 'HEAD' ? 'get' : answer.method.toLowerCase();
  const operation = template === undefined ? undefined : contract.paths![template]![method];
  if (refusalsOfAnyRequest.includes(answer.status)) return problemFaults(answer);
  if (operation === undefined)
    return [400, 404, 405, 408, 503].includes(answer.status)
      ? problemFaults(answer)
      : ['an undeclared path or method was not refused'];

  const declared = operation.responses?.[answer.status];
  if (declared === undefined) return [`status ${answer.status} is not declared`];
  const response = resolve(declared);
  return [...headerFaults(answer, response), ...bodyFaults(answer, response)];
}

function templateOf(path: string): string | undefined {
  const relative = path === '/openapi.json' ? path : path.startsWith('/v1/') ? path.slice(3) : undefined;
  const templates = Object.keys(contract.paths!);
  return (
    templates.find((template) => template === relative) ?? templates.find((template) => matches(template, relative))
  );
}

const matches = (template: string, path: string | undefined) =>
  path !== undefined && new RegExp(`^${template.replaceAll('.', '\\.').replace(/\{[^}]+\}/g, '[^/]+')}$`).test(path);

function headerFaults(answer: SeenAnswer, response: Json): string[] {
  const declared = Object.keys(response.headers ?? {}).map((name) => name.toLowerCase());
  const undeclared = Object.keys(answer.headers).filter(
    (name) => !declared.includes(name) && !belongsToHttp.test(name),
  );
  const unknown = undeclared.map((name) => `header ${name} is not declared`);
  const wrong = Object.entries(response.headers ?? {}).flatMap(([name, declared]) => {
    const header = resolve(declared as Json);
    const value = answer.headers[name.toLowerCase()];
    if (value === undefined) return header.required ? [`header ${name} is missing`] : [];
    const validate = compiledOnce(ajvOfHeaders, {
      type: 'object',
      properties: { value: header.schema! },
    } as unknown as Json);
    return validate({ value }) ? [] : [`header ${name}: ${value} ${ajvOfHeaders.errorsText(validate.errors)}`];
  });
  return [...unknown, ...wrong];
}

/** Headers of the connection and of the body's form, and headers that `info.description` declares for all answers. */
const belongsToHttp =
  /^(date|connection|keep-alive|content-(type|length|encoding)|transfer-encoding|vary|cache-control|x-content-type-options|access-control-.*)$/;

function bodyFaults(answer: SeenAnswer, response: Json): string[] {
  const contents = response.content;
  if (contents === undefined) return answer.text === '' ? [] : ['a body where none is declared'];
  const type = String(answer.headers['content-type'] ?? '').split(';')[0]!;
  const content = contents[type];
  if (content === undefined) return [`content type "${type}" is not declared`];
  if (answer.method === 'HEAD') return answer.text === '' ? [] : ['HEAD with a body'];
  return schemaFaults(content.schema!, type.endsWith('json') ? parse(answer.text) : answer.text);
}

function problemFaults(answer: SeenAnswer): string[] {
  const type = String(answer.headers['content-type']);
  const faults =
    type === 'application/problem+json' ? [] : [`content type ${type} instead of application/problem+json`];
  if (answer.headers['x-request-id'] === undefined) faults.push('header X-Request-Id is missing');
  if (answer.method === 'HEAD') return faults;
  return [...faults, ...schemaFaults({ $ref: '#/components/schemas/Problem' } as Json, parse(answer.text))];
}

function schemaFaults(schema: Json, value: unknown): string[] {
  const validate = compiledOnce(ajv, schema);
  return validate(value)
    ? []
    : (validate.errors ?? []).map(
        (error) => `body${error.instancePath} ${error.message} ${JSON.stringify(error.params)}`,
      );
}

function compiledOnce(compiler: typeof ajv, schema: Json): ValidateFunction {
  const known = compiled.get(compiler) ?? new Map<string, ValidateFunction>();
  const key = JSON.stringify(schema);
  const validate = known.get(key) ?? compiler.compile(strict(schema));
  compiled.set(compiler, known.set(key, validate));
  return validate;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A schema with its references resolved. It allows no field that it does not name. */
function strict(schema: Json): Json {
  const target = resolve(schema) as Json & { properties?: Json; items?: Json; additionalProperties?: unknown };
  const properties = target.properties as Record<string, Json> | undefined;
  return {
    ...target,
    ...(target.items && { items: strict(target.items) }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, strict(value)])),
    }),
    ...(properties && target.additionalProperties === undefined && { additionalProperties: false }),
  } as unknown as Json;
}
