/** What an upload may say of its recording, as options of the command. */
import { readFile } from 'node:fs/promises';
import Ajv from 'ajv';
import { Option } from 'commander';
import { Mistake } from '../terminal/refusal.ts';
import type { Schema } from '../../codegen/operations.ts';

type FieldName = Exclude<keyof Schema<'TranscriptionRequest'>, 'file' | 'durationMs'>;

/** Names and values of form fields, in the order in which they are sent; a name may be there several times. */
export type FormFields = readonly (readonly [FieldName, string])[];

interface FieldOption {
  field: FieldName;
  flags: string;
  description: string;
  /** Set where one value can't be right for several recordings. */
  ofOne?: true;
  /** Set where the option may be typed several times. */
  repeatable?: true;
}

/** One line for each form field of the contract. */
const fieldOptions: readonly FieldOption[] = [
  { field: 'title', flags: '--title <TEXT>', description: 'the title instead of the file name', ofOne: true },
  { field: 'reference', flags: '--reference <TEXT>', description: 'an identifier of your own, such as a ticket' },
  { field: 'retentionDays', flags: '--retention-days <DAYS>', description: 'delete the session after so many days' },
  { field: 'channels', flags: '--channels <MODE>', description: '"separate": transcribe each channel for itself' },
  { field: 'language', flags: '--language <TAG>', description: 'the language that is spoken, such as de or en-GB' },
  { field: 'speakers', flags: '--speakers <COUNT>', description: 'how many people speak (a hint)' },
  { field: 'keyterms', flags: '--keyterm <TEXT>', description: 'a name that is said (a hint)', repeatable: true },
];

function optionOf({ flags, description, repeatable }: FieldOption): Option {
  if (!repeatable) return new Option(flags, description);
  const all = (typed: string, before: string[] = []) => [...before, typed];
  return new Option(flags, `${description}; may be repeated`).argParser(all);
}

export const uploadOptions = (): Option[] => fieldOptions.map(optionOf);

/** The fields that were typed. @param values what the command line gave, by the names of the options */
export function formFields(values: Record<string, unknown>): FormFields {
  return fieldOptions.flatMap((option) => {
    const typed = values[optionOf(option).attributeName()] as string | string[] | undefined;
    return [typed ?? []].flat().map((value) => [option.field, value] as const);
  });
}

/** The flag of a typed field that only one recording can have. */
export function flagOfOne(fields: FormFields): string | undefined {
  const names = new Set(fields.map(([name]) => name));
  return fieldOptions.find(({ field, ofOne }) => ofOne && names.has(field))?.flags.split(' ')[0];
}

const contractFile = new URL('../../codegen/openapi.json', import.meta.url);

/**
 * Judges the fields by the contract, before a recording is sent.
 * @throws {Mistake} that names the option
 */
export async function checkFields(fields: FormFields): Promise<void> {
  if (fields.length === 0) return;
  const contract = JSON.parse(await readFile(contractFile, 'utf8')) as object;
  // A form holds texts only.
  const judge = new Ajv.default({ strict: false, validateFormats: false, coerceTypes: true });
  judge.addSchema(contract, 'contract');
  for (const { field, flags, repeatable } of fieldOptions) {
    const typed = fields.filter(([name]) => name === field).map(([, value]) => value);
    const value = repeatable ? typed : typed[0];
    const schema = { $ref: `contract#/components/schemas/TranscriptionRequest/properties/${field}` };
    if (typed.length === 0 || judge.validate(schema, value)) continue;
    const { message, params } = judge.errors![0]!;
    const choices = (params as { allowedValues?: string[] }).allowedValues;
    const reason = `${message}${choices ? `: ${choices.join(', ')}` : ''}`;
    throw new Mistake(`${flags.split(' ')[0]} ${typed.map((text) => JSON.stringify(text)).join(', ')} ${reason}`);
  }
}
