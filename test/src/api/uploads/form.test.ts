/** The form reader, given schemas that the contract could have (a new field must need nothing but that), and its own. */
import { schemaOf } from '../../../../src/api/contract/document.ts';
import { ApiError } from '../../../../src/api/answers/problem.ts';
import { UploadForm, uploadForm } from '../../../../src/api/uploads/form.ts';

const file = { type: 'string', format: 'binary' };
const form = formOf({
  durationMs: { type: 'integer', format: 'int32', minimum: 1, maximum: 2147483647 },
  offset: { type: 'integer', minimum: -5 },
  title: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[^\\x00-\\x1f]*$' },
  channels: { type: 'string', enum: ['mixed', 'separate'] },
  recordedAt: { type: 'string', format: 'date-time' },
  keyterms: { type: 'array', maxItems: 100, items: { type: 'string', minLength: 1, maxLength: 60 } },
  cuts: { type: 'array', maxItems: 3, items: { type: 'integer', minimum: 0, maximum: 9 } },
});

function formOf(fields: object, required = ['file']): UploadForm<object> {
  return new UploadForm({ type: 'object', required, properties: { file, ...fields } });
}

test.each<[string, Record<string, unknown>, object]>([
  ['nothing', {}, {}],
  ['fields that were not filled in', { title: '', durationMs: '', keyterms: ['', ''], cuts: ['', '1'] }, { cuts: [1] }],
  ['a field that was filled in once', { title: ['', 'x'] }, { title: 'x' }],
  ['a whole number', { durationMs: '1834000' }, { durationMs: 1834000 }],
  ['a negative number', { offset: '-5' }, { offset: -5 }],
  ['a text that looks like a number', { title: '42' }, { title: '42' }],
  ['255 characters outside of the basic plane', { title: '🎧'.repeat(255) }, { title: '🎧'.repeat(255) }],
  ['one of a closed set', { channels: 'separate' }, { channels: 'separate' }],
  ['a time', { recordedAt: '2026-11-20T09:30:00Z' }, { recordedAt: '2026-11-20T09:30:00Z' }],
  ['a list of one', { keyterms: 'Okapi' }, { keyterms: ['Okapi'] }],
  ['a list', { keyterms: ['Okapi', '7'], cuts: ['0', '9'] }, { keyterms: ['Okapi', '7'], cuts: [0, 9] }],
])('%s → read as declared', (_, texts, expected) => {
  expect(form.read(texts)).toEqual(expected);
});

const isWhole = 'must be a whole number from 1 to 2147483647';
test.each<[string, Record<string, unknown>, [string, string][]]>([
  ['an unknown field', { colour: 'red' }, [['colour', 'is not known']]],
  [
    'a name that every object has',
    JSON.parse('{"__proto__":"x"}') as Record<string, unknown>,
    [['__proto__', 'is not known']],
  ],
  ['a number beyond the largest', { durationMs: '2147483648' }, [['durationMs', isWhole]]],
  ['minus zero', { offset: '-0' }, [['offset', 'must be a whole number from -5']]],
  ['a control character', { title: 'a\tb' }, [['title', 'must not have control characters']]],
  ['none of a closed set', { channels: 'both' }, [['channels', 'must be one of mixed, separate']]],
  [
    'no time',
    { recordedAt: 'today' },
    [['recordedAt', 'must be a time such as 2026-11-20T09:30:00Z; a + is written %2B']],
  ],
  ['Latin-1, read as UTF-8', { title: 'M\ufffdller' }, [['title', 'must be UTF-8']]],
  ['a charset that nobody knows', { title: undefined, durationMs: '0' }, [['title', 'must be UTF-8']]],
  ['a number twice', { durationMs: ['7', '7'] }, [['durationMs', 'is repeated']]],
  ['a list too long', { cuts: ['1', '2', '3', '4'] }, [['cuts', 'must NOT have more than 3 items']]],
  ['one of a list wrong', { cuts: ['1', 'x'] }, [['cuts', 'must be a whole number from 0 to 9']]],
  [
    'several wrong at once',
    { title: ['a', 'b'], durationMs: '0', colour: 'red' },
    [
      ['title', 'is repeated'],
      ['colour', 'is not known'],
      ['durationMs', isWhole],
    ],
  ],
])('%s → 400 that names it', (_, texts, expected) => {
  const errors = expected.map(([name, message]) => ({ in: 'body', name, message }));
  expect(refusalOf(() => form.read(texts))).toMatchObject({
    status: 400,
    code: 'invalid_request',
    details: { errors },
  });
});

test('a required field is missing → 400 that names it, and not the file', () => {
  const strict = formOf({ title: { type: 'string', maxLength: 9 } }, ['file', 'title']);
  const errors = [{ in: 'body', name: 'title', message: 'is required' }];
  expect(refusalOf(() => strict.read({}))).toMatchObject({ details: { errors } });
});

test('limits for the parser → room for all that is declared, in bytes of UTF-8, and for one too many', () => {
  expect(form.maxFields).toBeGreaterThan(5 + 100 + 3);
  expect(form.maxValueBytes).toBeGreaterThanOrEqual(255 * 4);
  expect(form.maxBytes).toBeGreaterThan(100 * 60 * 4);
  expect(formOf({ note: { type: 'string', maxLength: 10_000 } }).maxValueBytes).toBe(40_000);
});

test('the form of the contract → texts, whole numbers and lists of these, with bounds and without defaults', () => {
  const { properties } = schemaOf('TranscriptionRequest') as { properties: Record<string, Record<string, unknown>> };
  const { file: _, ...fields } = properties;
  const text = { type: 'string', maxLength: expect.any(Number) };
  const number = { type: 'integer', minimum: expect.any(Number), maximum: expect.any(Number) };
  for (const field of Object.values(fields)) {
    const one = (field.items ?? field) as { type: string };
    expect(one).toMatchObject(one.type === 'integer' ? number : text);
    if (field.items !== undefined) expect(field.maxItems).toEqual(expect.any(Number));
    expect(field).not.toHaveProperty('default');
  }
});

test.each<[string, (string | string[])[]]>([
  ['durationMs', ['0', '1.5', '1e3', '2147483648', ' 7', '0x10', '07', '+7', '١٢٣', '7\r\n']],
  ['title', ['   ', '🎧'.repeat(256), 'a\u0000', ['a', 'b']]],
  ['language', ['xx-klingon', 'de_AT', 'de-', ' de', 'auto', 'дe', ['de', 'de']]],
  ['retentionDays', ['0', '3651', '-1', '1.5', '1e2', 'forever']],
  ['speakers', ['0', '21']],
  ['channels', ['both']],
  ['keyterms', [['Okapi', '   '], Array.from({ length: 101 }, (_, i) => `term ${i}`)]],
])('the form of the contract: %s with a value that it does not take → 400 that names it', (name, values) => {
  for (const value of values) {
    const { message, details } = refusalOf(() => uploadForm.read({ [name]: value }));
    expect({ value, names: [...new Set(details.errors!.map((error) => error.name))] }).toEqual({
      value,
      names: [name],
    });
    expect(message).not.toContain('pattern');
  }
});

function refusalOf(read: () => unknown): ApiError {
  try {
    read();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}
