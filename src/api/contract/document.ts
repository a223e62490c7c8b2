/** The contract as the service itself reads it. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Any part of the document. */
export type Json = { [name: string]: Json } & { $ref?: string; required?: boolean; schema?: Json };

export const contractFile = fileURLToPath(new URL('../../../codegen/openapi.json', import.meta.url));
export const contract = JSON.parse(readFileSync(contractFile, 'utf8')) as Json;

/** What a reference points to (JSON Pointer, RFC 6901). A value that is no reference stays as it is. */
export function resolve(value: Json): Json {
  if (value.$ref === undefined) return value;
  return value.$ref
    .slice(2)
    .split('/')
    .reduce((node: Json, name) => node[name]!, contract);
}

/** A schema of the contract by its name, with its references resolved. No schema of the contract contains itself. */
export function schemaOf(name: string): object {
  return inPlace(contract.components!.schemas![name]!) as object;
}

function inPlace(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inPlace);
  if (typeof value !== 'object' || value === null) return value;
  const target = resolve(value as Json);
  return Object.fromEntries(Object.entries(target).map(([name, part]) => [name, inPlace(part)]));
}
