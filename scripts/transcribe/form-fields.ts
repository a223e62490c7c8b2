/** What an upload may say of its recording, as options of the command. */
import { readFile } from 'node:fs/promises';
import Ajv from 'ajv';
import { Option } from 'commander';
import { Mistake } from '../terminal/refusal.ts';
import type { UploadFields } from '../client/index.ts';

type FieldName = Exclude<keyof UploadFields, 'durationMs'>;

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

/** The fields that were typed, as texts. @param values what the command line gave, by the names of the options */
export function formFields(values: Record<string, unknown>): UploadFields {
  const typed = fieldOptions.map((option) => [option.field, values[optionOf(option).attributeName()]] as const);
  return Object.fromEntries(typed.filter(([, value]) => value !== undefined));
}

/** The flag of a typed field that only one recording can have. */
export const flagOfOne = (fields: UploadFields): string | undefined =>
  fieldOptions.find(({ field, ofOne }) => ofOne && fields[field] !== undefined)?.flags.split(' ')[0];

const contractFile = new URL('../../codegen/openapi.json', import.meta.url);

/**
 * Judges the fields by the contract, before a recording is sent.
 * @throws {Mistake} that names the option
 */
export async function checkFields(fields: UploadFields): Promise<void> {
  const contract = JSON.parse(await readFile(contractFile, 'utf8')) as object;
  // A form holds texts only.
  const judge = new Ajv.default({ strict: false, validateFormats: false, coerceTypes: true });
  judge.addSchema(contract, 'contract');
  for (const { field, flags } of fieldOptions) {
    const value = fields[field];
    const schema = { $ref: `contract#/components/schemas/TranscriptionRequest/properties/${field}` };
    if (value === undefined || judge.validate(schema, value)) continue;
    const { message, params } = judge.errors![0]!;
    const choices = (params as { allowedValues?: string[] }).allowedValues;
    const reason = `${message}${choices ? `: ${choices.join(', ')}` : ''}`;
    throw new Mistake(
      `${flags.split(' ')[0]} ${[value]
        .flat()
        .map((text) => JSON.stringify(text))
        .join(', ')} ${reason}`,
    );
  }
}
