/** Valid and invalid values of a schema of the contract, as they travel in a URL, a header or a form. */
import fc from 'fast-check';
import type { Arbitrary } from 'fast-check';

export interface Schema {
  $ref?: string;
  type?: string;
  format?: string;
  enum?: string[];
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  items?: Schema;
}

/** One or, for an array, several values of one parameter. */
export type Values = string[];

export function validValues(schema: Schema): Arbitrary<Values> {
  if (schema.type === 'array') {
    const { minItems: minLength = 0, maxItems: maxLength = 5 } = schema;
    return fc.array(validValue(schema.items!), { minLength, maxLength });
  }
  return validValue(schema).map((value) => [value]);
}

function validValue(schema: Schema): Arbitrary<string> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.type === 'integer') return fc.integer(boundsOf(schema)).map(String);
  if (schema.format === 'uuid')
    return fc.oneof(
      fc.uuid(),
      fc.uuid().map((id) => id.toUpperCase()),
    );
  if (schema.format === 'date-time') return dateTime;
  const lengths = { minLength: schema.minLength ?? 0, maxLength: Math.min(schema.maxLength ?? 50, 300) };
  const characters = charactersOf(schema.pattern ?? '');
  if (schema.pattern !== undefined && characters.length === 0) return fc.stringMatching(new RegExp(schema.pattern));
  if (schema.pattern !== undefined) return fc.string({ unit: fc.constantFrom(...characters), ...lengths });
  return fc.string({ unit: printable, ...lengths });
}

/** Those of an int32, where the schema says nothing. */
const boundsOf = ({ minimum: min = -(2 ** 31), maximum: max = 2 ** 31 - 1 }: Schema) => ({ min, max });

/** Values that the schema refuses, each by one rule of it. */
export function invalidValues(schema: Schema): Arbitrary<Values> {
  if (schema.type === 'array') {
    const item = schema.items!;
    const tooMany = fc.array(validValue(item), { minLength: schema.maxItems! + 1, maxLength: schema.maxItems! + 5 });
    const oneWrong = fc
      .tuple(fc.array(validValue(item), { maxLength: 2 }), invalidValue(item))
      .map(([some, wrong]) => [...some, wrong]);
    return fc.oneof(tooMany, oneWrong);
  }
  const repeated = validValue(schema).map((value) => [value, value]);
  return fc.oneof(
    invalidValue(schema).map((value) => [value]),
    repeated,
  );
}

function invalidValue(schema: Schema): Arbitrary<string> {
  if (schema.enum !== undefined) return printableText.filter((text) => !schema.enum!.includes(text));
  if (schema.type === 'integer') {
    const { min, max } = boundsOf(schema);
    const below = fc.integer({ min: min - 2 ** 31, max: min - 1 }).map(String);
    const above = fc.integer({ min: max + 1, max: max + 2 ** 31 }).map(String);
    const fraction = fc.integer({ min, max: max - 1 }).map((value) => `${value}.5`);
    return fc.oneof(below, above, fraction, fc.constantFrom('', ' ', 'NaN', '5px', '--1'));
  }
  if (schema.format === 'uuid')
    return printableText.filter(
      (text) => !/^[0-9a-f-]{36}$/i.test(text) && !/[/?#]/.test(text) && text !== '.' && text !== '..',
    );
  if (schema.format === 'date-time') {
    return fc.oneof(printableText, fc.constantFrom('2026-11-20', '2026-11-20T10:00:00', '2026-02-30T00:00:00Z', 'now'));
  }
  const wrong: Arbitrary<string>[] = [];
  if ((schema.minLength ?? 0) > 0) wrong.push(fc.constant(''));
  if (schema.maxLength !== undefined) wrong.push(fc.constant('a'.repeat(schema.maxLength + 1)));
  if (schema.pattern !== undefined) {
    const pattern = new RegExp(schema.pattern);
    const refused = ascii.filter((character) => !pattern.test(`a${character}a`));
    // A header can hold printable ones only.
    const visible = refused.filter((character) => character >= ' ');
    const character = fc.constantFrom(...(visible.length > 0 ? visible : refused));
    wrong.push(fc.tuple(printableText, character).map(([text, last]) => `${text}${last}a`));
  }
  return fc.oneof(...wrong);
}

const ascii = Array.from({ length: 0x7f }, (_, code) => String.fromCharCode(code));
const printable = fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code));
const printableText = fc.string({ unit: printable, minLength: 1, maxLength: 40 });

const dateTime = fc
  .tuple(
    fc.date({ min: new Date('0001-01-02T00:00:00Z'), max: new Date('9999-12-30T00:00:00Z'), noInvalidDate: true }),
    fc.constantFrom('', '.1', '.123456', '.123456789123'),
    fc.constantFrom('Z', 'z', '+00:00', '-11:30', '+14:00', '+23:59', '-23:59'),
  )
  .map(([date, fraction, zone]) => `${date.toISOString().slice(0, 19)}${fraction}${zone}`);

/** Most patterns of the contract are one character class, repeated. None is left of one that is not. */
function charactersOf(pattern: string): string[] {
  const every = new RegExp(pattern);
  return ascii.filter((character) => character >= ' ' && every.test(character));
}
