/**
 * Checks the form of an upload against the contract's `TranscriptionRequest`, and against nothing else, and says how
 * large a form and its file may be. The file is not looked at.
 */
import Ajv from 'ajv';
import addFormats from 'ajv-formats';
import { ApiError, invalidRequest } from '../answers/problem.ts';
import { schemaOf } from '../contract/document.ts';
import { toInvalidRequest } from '../contract/validation.ts';
import type { ErrorObject, ValidateFunction } from 'ajv';
import type { Form } from '../../../codegen/operations.ts';

/** The fields of an upload without its file, as handlers get them. */
export type UploadFields = Omit<Form<'createTranscription'>, 'file'>;

/** What the form reader has to know of a field; ajv checks the rest. */
interface FieldSchema {
  type?: string;
  items?: FieldSchema;
  maxItems?: number;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
}

interface FormSchema {
  properties: Record<string, FieldSchema>;
  required?: string[];
}

const ajv = addFormats.default(new Ajv.default({ strict: false, allErrors: true, verbose: true }));

/** More fields than a form may have are read, so that one too many is refused by its name. */
const spareFields = 8;
/** Of UTF-8. */
const bytesPerCharacter = 4;
const smallestLimitBytes = 1024;
const partHeaderBytes = 256;

export class UploadForm<Fields> {
  readonly #fields: Map<string, FieldSchema>;
  readonly #validate: ValidateFunction;
  /** How many text fields are read at most. */
  readonly maxFields: number;
  /** The longest value that is read, in bytes. */
  readonly maxValueBytes: number;

  /**
   * @param schema an object with `file`, and fields that are texts, whole numbers, or lists of these, with bounds and
   *   without defaults: one would change the fingerprint of repeated uploads as soon as the contract gets it
   */
  constructor(schema: object) {
    const { properties, required = [] } = schema as FormSchema;
    const { file: _, ...others } = properties;
    this.#fields = new Map(Object.entries(others));
    const fields = [...this.#fields.values()];
    this.maxFields = fields.reduce((sum, { maxItems }) => sum + (maxItems ?? 1), spareFields);
    const longest = fields.map(({ items, maxLength }) => (items ?? { maxLength }).maxLength ?? 0);
    this.maxValueBytes = Math.max(smallestLimitBytes, ...longest.map((characters) => characters * bytesPerCharacter));
    this.#validate = ajv.compile({
      type: 'object',
      additionalProperties: false,
      properties: others,
      required: required.filter((name) => name !== 'file'),
    });
  }

  /** How many bytes the text fields of a form take at most, with the headers of their parts. */
  get maxBytes(): number {
    return this.maxFields * (this.maxValueBytes + partHeaderBytes);
  }

  knows(name: string): boolean {
    return this.#fields.has(name);
  }

  /**
   * @param texts what was sent as text: the values of a name that is repeated, as an array. Undefined stands for what is in no
   *   charset that can be read
   * @param isFileMissing whether the form lacks its file, which is told with what is wrong of its texts
   * @throws {ApiError} 400 `invalid_request` that names every field that is unknown, repeated or wrong
   */
  read(texts: Readonly<Record<string, unknown>>, isFileMissing = false): Fields {
    const entries = Object.entries(texts).flatMap(([name, text]) => this.#withoutEmpty(name, text));
    const unreadable = entries.filter(([, text]) => [text].flat().some(isNoText));
    if (unreadable.length > 0)
      throw toInvalidRequest(unreadable.map(([name]) => fieldError(name, 'utf-8', 'must be UTF-8')));
    const repeated = entries.filter(([name, text]) => this.knows(name) && !this.#isList(name) && Array.isArray(text));
    const values = Object.fromEntries(entries.map(([name, text]) => [name, this.#valueOf(name, text)]));
    this.#validate(values);
    const invalid = (this.#validate.errors ?? []).map(inTheForm);
    const unwritable = entries.filter(
      ([name, text]) => this.knows(name) && hasControl(text) && !invalid.some(isAbout(name)),
    );
    const faults = [
      ...repeated.map(([name]) => fieldError(name, 'repeated', 'is repeated')),
      ...invalid,
      ...unwritable.map(([name]) => fieldError(name, 'pattern', 'must not have control characters')),
    ];
    if (isFileMissing && faults.length > 0) faults.push(fieldError('file', 'missing', 'is required'));
    if (faults.length > 0) throw toInvalidRequest(faults);
    return values as Fields;
  }

  /** A form of HTML sends every field of it. One that is empty was not filled in. */
  #withoutEmpty(name: string, text: unknown): [string, unknown][] {
    if (!this.knows(name)) return [[name, text]];
    if (!Array.isArray(text)) return text === '' ? [] : [[name, text]];
    const filled = text.filter((one) => one !== '');
    return filled.length === 0 ? [] : [[name, filled.length === 1 ? filled[0] : filled]];
  }

  #isList(name: string): boolean {
    return this.#fields.get(name)?.type === 'array';
  }

  #valueOf(name: string, text: unknown): unknown {
    const field = this.#fields.get(name);
    return field?.items === undefined ? valueOf(field, text) : [text].flat().map((one) => valueOf(field.items, one));
  }
}

/**
 * A whole number in its only spelling. Other text stays text and is refused by ajv, whose own coercion would accept
 * `0x10` and ` 7`.
 */
function valueOf(field: FieldSchema | undefined, text: unknown): unknown {
  return field?.type === 'integer' && /^(0|-?[1-9]\d*)$/.test(String(text)) ? Number(text) : text;
}

function inTheForm(error: ErrorObject): ErrorObject {
  const place = { ...error, instancePath: `/form${error.instancePath}` };
  const field = error.parentSchema as FieldSchema;
  const isNumber = field.type === 'integer' && error.keyword !== 'enum';
  return isNumber ? { ...place, keyword: 'type', message: wholeNumber(field) } : place;
}

const wholeNumber = ({ minimum, maximum }: FieldSchema): string =>
  ['must be a whole number', minimum !== undefined && `from ${minimum}`, maximum !== undefined && `to ${maximum}`]
    .filter(Boolean)
    .join(' ');

const fieldError = (name: string, keyword: string, message: string): ErrorObject => ({
  keyword,
  instancePath: `/form/${name}`,
  schemaPath: '',
  params: {},
  message,
});

/** Bytes that are no UTF-8 have become U+FFFD where the form was read. */
const isNoText = (text: unknown): boolean => text === undefined || String(text).includes('\ufffd');
const hasControl = (texts: unknown): boolean => [texts].flat().some((text) => /[\x00-\x1f\x7f]/.test(String(text)));
const isAbout =
  (name: string) =>
  ({ instancePath }: ErrorObject): boolean =>
    instancePath.startsWith(`/form/${name}`);

export const invalidField = (name: string, message: string): ApiError => invalidRequest({ in: 'body', name, message });

export const uploadForm = new UploadForm<UploadFields>(schemaOf('TranscriptionRequest'));

/** How many bytes a form may have beside its file: boundaries, a long file name, text fields. */
export const formOverheadBytes = 64 * 1024 + uploadForm.maxBytes;

/**
 * No plan or account has a larger limit. A repeated upload may be this large even if its account's limit was lowered.
 */
export const largestFileBytes = 2_147_483_647;

export const fileTooLarge = (limitBytes: number): ApiError =>
  new ApiError(413, 'file_too_large', `The file is larger than ${limitBytes} bytes.`, { limitBytes });
