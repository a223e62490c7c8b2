/** How `/llms.txt` says a parameter, a field, a schema and an answer. */
import { resolve } from '../contract/document.ts';

export interface Schema {
  $ref?: string;
  type?: string;
  format?: string;
  description?: string;
  required?: string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  enum?: string[];
  default?: unknown;
  example?: unknown;
  'x-retry'?: Record<string, string>;
}

export interface Parameter {
  $ref?: string;
  name: string;
  in?: string;
  required?: boolean;
  description: string;
  schema: Schema;
  example?: unknown;
}

export interface Answer {
  $ref?: string;
  description: string;
  headers?: Record<string, object>;
  content?: Record<string, { schema: Schema; examples?: Record<string, { value: Record<string, unknown> }> }>;
}

const bounds = ['minLength', 'maxLength', 'minItems', 'maxItems', 'minimum', 'maximum', 'pattern'] as const;

export function parameterOf(reference: Parameter): string {
  const { name, in: place, required, description, schema, example } = resolved(reference);
  const about = [...(place === undefined ? [] : [place]), ...facts(schema), ...(required === true ? ['required'] : [])];
  return item(name, about, description, example);
}

export function schemaText(name: string, schema: Schema): string {
  const fields = Object.entries(schema.properties ?? {}).map(([field, value]) => {
    const required = schema.required?.includes(field) === true ? ['required'] : [];
    const { description = '', example, ...rest } = resolved(value);
    return item(field, [...facts(value), ...required], description, example) + retriesOf(rest['x-retry']);
  });
  const about = schema.properties === undefined ? ` (${facts(schema).join(', ')})` : '';
  return [
    `### ${name}`,
    `${schema.description?.trim() ?? ''}${about}`,
    ...(fields.length > 0 ? [fields.join('\n')] : []),
  ]
    .filter((text) => text !== '')
    .join('\n\n');
}

export function answerOf(status: string, answer: Answer): string {
  const { description, headers = {}, content = {} } = resolved(answer);
  const bodies = Object.entries(content).map(([type, { schema }]) => `\`${type}\` (${facts(schema).join(', ')})`);
  const names = Object.keys(headers).map((name) => `\`${name}\``);
  const about = [...(bodies.length > 0 ? [`Body: ${bodies.join(', ')}.`] : []), `Headers: ${names.join(', ')}.`];
  return `- ${status}: ${onOneLine(description)} ${about.join(' ')}`;
}

const item = (name: string, about: string[], description: string, example: unknown) =>
  `- \`${name}\` (${about.join(', ')}): ${onOneLine(description)}` +
  (example === undefined ? '' : ` Example: \`${typeof example === 'string' ? example : JSON.stringify(example)}\`.`);

/** What a value may be. */
function facts(schema: Schema): string[] {
  if (schema.$ref !== undefined && !isPlain(resolved(schema))) return [`\`${schema.$ref.split('/').at(-1)}\``];
  const target = resolved(schema);
  const { type = 'any', format, items, default: usual } = target;
  return [
    format === undefined ? type : `${type} ${format}`,
    ...(items === undefined ? [] : [`of ${facts(items).join(', ')}`]),
    ...(target.enum === undefined ? [] : [`one of ${target.enum.join(', ')}`]),
    ...bounds.flatMap((bound) => {
      const value = (target as Record<string, unknown>)[bound];
      return value === undefined ? [] : [`${bound} ${bound === 'pattern' ? `\`${String(value)}\`` : String(value)}`];
    }),
    ...(usual === undefined ? [] : [`default ${String(usual)}`]),
  ];
}

const isPlain = ({ properties }: Schema) => properties === undefined;

const retriesOf = (table: Schema['x-retry']) =>
  table === undefined
    ? ''
    : ` \`x-retry\`: ${Object.entries(table)
        .map(([code, action]) => `\`${code}\` ${action}`)
        .join(', ')}.`;

const resolved = <T extends { $ref?: string }>(value: T): T => resolve(value as never) as unknown as T;

const onOneLine = (text: string) => text.trim().replaceAll(/\s*\n\s*/g, ' ');
