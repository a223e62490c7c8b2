/** What the contract says of parameters and fields, as JSON Schema for tools. */
import { readFile } from 'node:fs/promises';

interface Schema {
  $ref?: string;
  description?: string;
  items?: Schema;
}

interface Parameter {
  $ref?: string;
  name: string;
  in: string;
  required?: boolean;
  description: string;
  schema: Schema;
}

interface Contract {
  info: { title: string; version: string };
  paths: Record<string, Record<string, { operationId: string; parameters?: Parameter[] }>>;
  components: { schemas: Record<string, Schema & { properties?: Record<string, Schema> }> };
}

export const contract = JSON.parse(
  await readFile(new URL('../../codegen/openapi.json', import.meta.url), 'utf8'),
) as Contract;

/** The parameters of an operation in path and query. */
export function parametersOf(operationId: string): Record<string, object> {
  const operations = Object.values(contract.paths).flatMap((path) => Object.values(path));
  const { parameters = [] } = operations.find((operation) => operation.operationId === operationId)!;
  const named = parameters
    .map(resolved)
    .filter(({ in: place }) => place !== 'header')
    .map(({ name, description, schema }) => [name, { ...inPlace(schema), description }] as const);
  return Object.fromEntries(named);
}

/** The fields of an upload besides its file. */
export function uploadFields(): Record<string, object> {
  const { file: _, ...fields } = contract.components.schemas['TranscriptionRequest']!.properties!;
  return Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, inPlace(schema)]));
}

function inPlace(schema: Schema): Schema {
  const { items, ...target } = resolved(schema);
  return items === undefined ? target : { ...target, items: inPlace(items) };
}

function resolved<T extends { $ref?: string }>(value: T): T {
  if (value.$ref === undefined) return value;
  const parts = value.$ref.slice(2).split('/');
  return parts.reduce((node: unknown, name) => (node as Record<string, unknown>)[name], contract) as T;
}
