/** Turns the errors that openapi-backend found in a request into a problem that names each parameter once. */
import { invalidRequest } from '../answers/problem.ts';
import type { ErrorObject } from 'ajv';
import type { ApiError, InvalidField } from '../answers/problem.ts';

/**
 * Ajv takes `0x10`, `1e1` and a blank for integers when it coerces them; the contract does not.
 *
 * @throws {ApiError} 400 `invalid_request`
 */
export function refuseLooseIntegers(
  parameters: readonly unknown[],
  query: Readonly<Record<string, string | string[]>>,
): void {
  for (const parameter of parameters as { name: string; schema?: { type?: string } }[]) {
    if (parameter.schema?.type !== 'integer') continue;
    const value = query[parameter.name];
    if (value !== undefined && !/^-?\d+$/.test(String(value))) {
      throw invalidRequest({ in: 'query', name: parameter.name, message: 'must be an integer' });
    }
  }
}

const maxErrors = 20;
const places: Record<string, InvalidField['in']> = { path: 'path', query: 'query', header: 'header' };

/** @param query as the client sent it: a name that is repeated has an array of values. Absent when a form is wrong */
export function toInvalidRequest(
  errors: readonly ErrorObject[],
  query: Readonly<Record<string, string | string[]>> = {},
): ApiError {
  const fields = new Map<string, InvalidField>();
  for (const error of errors) {
    const [, part = '', ...path] = error.instancePath.split('/');
    const place = places[part] ?? 'body';
    const found = nameOf(error) ?? path[0] ?? '';
    const name = place === 'header' ? capitalized(found) : found;
    const isRepeated = place === 'query' && error.keyword === 'type' && Array.isArray(query[found]);
    const message = isRepeated ? 'is repeated' : messageOf(error);
    const known = fields.get(`${place}/${name}`);
    // What a text has to be says more than how long.
    if (known === undefined || (error.keyword === 'pattern' && /^must NOT have/.test(known.message))) {
      fields.set(`${place}/${name}`, { in: place, name: unescape(name), message });
    }
  }
  const [first, ...others] = [...fields.values()].slice(0, maxErrors);
  return invalidRequest(first!, ...others);
}

function nameOf(error: ErrorObject): string | undefined {
  if (error.keyword === 'additionalProperties') return String(error.params.additionalProperty);
  if (error.keyword === 'required') return String(error.params.missingProperty);
  return undefined;
}

function messageOf(error: ErrorObject): string {
  if (error.keyword === 'additionalProperties') return 'is not known';
  if (error.keyword === 'required') return 'is required';
  if (error.keyword === 'enum') return `must be one of ${(error.params.allowedValues as string[]).join(', ')}`;
  if (error.keyword === 'format') return `must be ${formats[String(error.params.format)] ?? 'well-formed'}`;
  if (error.keyword === 'minLength' && error.params.limit === 1) return 'must not be empty';
  if (error.keyword === 'pattern') return patternInWords(String(error.params.pattern)) ?? 'has a wrong character';
  return error.message ?? 'is wrong';
}

/** What a text has to be, where a pattern of the contract says it for programs. */
function patternInWords(pattern: string): string | undefined {
  const choices = /^\^\((\w+(?:\|\w+)+)\)\??\$$/.exec(pattern)?.[1];
  if (choices !== undefined) return `must be one of ${choices.replaceAll('|', ', ')}`;
  if (pattern.includes('[A-Za-z]{2,3}(-')) return 'must be a language such as de, en-GB or zh-Hant (BCP 47)';
  if (pattern.startsWith('^[A-Za-z]{2,3}$')) return 'must be the first part of a language tag, such as en';
  if (pattern.includes('\\x00-\\x20')) return 'must not be blank or have control characters';
  if (pattern.includes('\\x00-\\x1')) return 'must not have control characters';
  return pattern.includes('\\x00') ? 'must not have the character NUL' : undefined;
}

const formats: Record<string, string> = {
  uuid: 'a UUID',
  'date-time': 'a time such as 2026-11-20T09:30:00Z; a + is written %2B',
};

/** openapi-backend has the names of headers in lower case. People know them as `Idempotency-Key`. */
const capitalized = (name: string) => name.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());

/** JSON Pointer (RFC 6901, section 4). */
const unescape = (token: string) => token.replaceAll('~1', '/').replaceAll('~0', '~');
