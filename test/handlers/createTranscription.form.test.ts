import { parseAnswers, sendRaw } from '../support/clients/raw-http.ts';
import { useAccount, useService } from '../support/service/use-service.ts';
import { boundary, closing, expectNothingLeft, filePart, form, formType } from '../support/uploads/uploads.ts';
import { part, textPart, tone, traces } from '../support/uploads/uploads.ts';

const service = await useService();
const account = await useAccount(service);
let audio: Buffer;
beforeAll(async () => {
  audio = await tone(100);
});

const named = (name: string, message?: string) => ({
  code: 'invalid_request',
  errors: [{ in: 'body', name, ...(message !== undefined && { message }) }],
});
const file = () => filePart(audio);
const binaryText = (name: string, fileName?: string) =>
  part(
    [
      `Content-Disposition: form-data; name="${name}"${fileName === undefined ? '' : `; filename="${fileName}"`}`,
      'Content-Type: application/octet-stream',
    ],
    'x',
  );

const nameless = (content: Buffer | string, ...more: string[]) =>
  part(['Content-Disposition: form-data; name="file"', ...more], content);

const invalidDurations = [
  ...['0', '-1', '1.5', '1e3', '2147483648', '99999999999999999999', 'abc', '', ' ', ' 7', '7 ', '0x10', '07', '+7'],
  ...['١٢٣', 'null', '1_000', '7\r\n'],
];
test.each([
  ['without parts', () => closing, named('file', 'is required')],
  ['without a file', () => form(textPart('durationMs', '100')), named('file', 'is required')],
  ['with `file` as text beside the file', () => form(file(), textPart('file', 'x')), named('file', 'is repeated')],
  ['with it the other way round', () => form(textPart('file', 'x'), file()), named('file', 'is repeated')],
  ['with two files without names', () => form(nameless(audio), nameless(audio)), named('file', 'is repeated')],
  ['with two empty files without names', () => form(nameless(''), nameless('')), named('file', 'is repeated')],
  ['with an empty file without a name', () => form(nameless('')), { ...named('file', 'is empty'), code: 'empty_file' }],
  ['with two files', () => form(file(), file()), named('file', 'is repeated')],
  ['with three files', () => form(file(), file(), file()), named('file', 'is repeated')],
  ['with an unknown text field', () => form(textPart('project', 'en'), file()), named('project', 'is not known')],
  ['with it after the file', () => form(file(), textPart('project', 'en')), named('project', 'is not known')],
  ['with an unknown file', () => form(file(), filePart('x', 'x.wav', 'audio')), named('audio', 'is not known')],
  ['with only an unknown file', () => form(filePart(audio, 'x.wav', 'audio')), named('audio', 'is not known')],
  ['with an unknown field in binary', () => form(file(), binaryText('other')), named('other', 'is not known')],
  ['with an unknown file without a name', () => form(file(), binaryText('other', '')), named('other', 'is not known')],
  ['with durationMs in binary', () => form(file(), binaryText('durationMs')), named('durationMs')],
  ['with durationMs as a file', () => form(file(), filePart('7', '7', 'durationMs')), named('durationMs')],
  [
    'with durationMs twice',
    () => form(textPart('durationMs', '7'), file(), textPart('durationMs', '7')),
    named('durationMs', 'is repeated'),
  ],
  ['with durationMs[a]', () => form(textPart('durationMs[a]', '7'), file()), named('durationMs[a]')],
  ['with durationMs[]', () => form(file(), textPart('durationMs[]', '7')), named('durationMs[]')],
  ['with __proto__', () => form(textPart('__proto__', '7'), file()), named('__proto__')],
  ['with __proto__[x]', () => form(textPart('__proto__[x]', '7'), file()), named('__proto__[x]')],
  ['with constructor', () => form(file(), textPart('constructor', '7')), named('constructor')],
  ['with a field whose name is empty', () => form(file(), textPart('', '7')), { code: 'invalid_request' }],
  [
    'with a field without a name',
    () => form(file(), part('Content-Disposition: form-data', '7')),
    { code: 'invalid_request' },
  ],
  ['with a field name of 5,000', () => form(file(), textPart('n'.repeat(5_000), '7')), { code: 'invalid_request' }],
  [
    'with durationMs hundreds of times',
    () => form(...Array.from({ length: 500 }, () => textPart('durationMs', '7')), file()),
    named('durationMs', 'is repeated'),
  ],
  [
    'with several wrong fields',
    () => form(textPart('project', 'en'), file(), textPart('durationMs', '0'), textPart('colour', 'red')),
    {
      errors: [
        { name: 'project', message: 'is not known' },
        { name: 'colour', message: 'is not known' },
        { name: 'durationMs', message: 'must be a whole number from 1 to 2147483647' },
      ],
    },
  ],
  [
    'with a value of 1 MB',
    () => form(textPart('durationMs', '1'.repeat(1e6)), file()),
    named('durationMs', 'is too long'),
  ],
  [
    'with an unknown value of 1 MB',
    () => form(textPart('note', 'x'.repeat(1e6)), file()),
    named('note', 'is not known'),
  ],
  [
    'with hundreds of fields',
    () => form(...Array.from({ length: 500 }, (_, i) => textPart(`f${i}`, 'x')), file()),
    { code: 'invalid_request' },
  ],
  ['with hundreds of files', () => form(...Array.from({ length: 500 }, () => file())), named('file', 'is repeated')],
  ['with a part without headers', () => form(file(), part([], 'x')), { code: 'invalid_request' }],
  ['with malformed part headers', () => form(part(['no colon here', ':'], 'x'), file()), { code: 'invalid_request' }],
  [
    'with part headers of 100 KB',
    () => form(part(`Content-Disposition: form-data; name="file"; x="${'y'.repeat(100_000)}"`, 'x')),
    { code: 'invalid_request' },
  ],
  ['with an empty file', () => form(filePart('')), { ...named('file', 'is empty'), code: 'empty_file' }],
  ...invalidDurations.map((value): [string, () => Buffer, object] => [
    `with durationMs ${JSON.stringify(value)}`,
    () => form(textPart('durationMs', value), file()),
    named('durationMs', 'must be a whole number from 1 to 2147483647'),
  ]),
  ...(['title', 'reference'] as const).flatMap((name): [string, () => Buffer, object][] => [
    [`with an empty ${name}`, () => form(textPart(name, ''), file()), named(name)],
    [`with a ${name} of 256 characters`, () => form(textPart(name, '🎧'.repeat(256)), file()), named(name)],
    [`with a ${name} of 100 KB`, () => form(textPart(name, 'x'.repeat(100_000)), file()), named(name, 'is too long')],
    [`with a control character in ${name}`, () => form(textPart(name, 'a\u001fb'), file()), named(name)],
    [`with NUL in ${name}`, () => form(file(), textPart(name, 'a\u0000')), named(name)],
    [`with ${name} twice`, () => form(textPart(name, 'a'), file(), textPart(name, 'b')), named(name, 'is repeated')],
  ]),
  ['with a blank title', () => form(textPart('title', '   '), file()), named('title')],
  ...['xx-klingon', 'de-AT-1996', 'german', 'd', '', 'de_AT', 'de-', ' de', 'de\u0000', 'auto', 'дe', 'en-12'].map(
    (value): [string, () => Buffer, object] => [
      `with language ${JSON.stringify(value)}`,
      () => form(textPart('language', value), file()),
      named('language'),
    ],
  ),
  [
    'with language twice',
    () => form(textPart('language', 'de'), file(), textPart('language', 'de')),
    named('language', 'is repeated'),
  ],
  ...['0', '21', '-1', '1.5', 'two', '', '٢'].map((value): [string, () => Buffer, object] => [
    `with speakers ${JSON.stringify(value)}`,
    () => form(textPart('speakers', value), file()),
    named('speakers', 'must be a whole number from 1 to 20'),
  ]),
  [
    'with speakers twice',
    () => form(textPart('speakers', '2'), textPart('speakers', '2'), file()),
    named('speakers', 'is repeated'),
  ],
  [
    'with 101 keyterms',
    () => form(...Array.from({ length: 101 }, (_, i) => textPart('keyterms', `term ${i}`)), file()),
    named('keyterms', 'must NOT have more than 100 items'),
  ],
  [
    'with 500 keyterms',
    () => form(...Array.from({ length: 500 }, (_, i) => textPart('keyterms', `term ${i}`)), file()),
    named('keyterms'),
  ],
  ...['', '   ', 'x'.repeat(61), 'a\u001fb', 'a\nb'].map((value): [string, () => Buffer, object] => [
    `with keyterms ${JSON.stringify(value)} among others`,
    () => form(textPart('keyterms', 'Okapi'), textPart('keyterms', value), file()),
    named('keyterms'),
  ]),
  ['with keyterms[]', () => form(textPart('keyterms[]', 'Okapi'), file()), named('keyterms[]', 'is not known')],
  ['with keyterms as a file', () => form(file(), filePart('Okapi', 'terms.txt', 'keyterms')), named('keyterms')],
])('a form %s → 400 that says so, nothing is left', async (_, body, expected) => {
  const before = await traces(service, account);
  const response = await send(body()).set('Idempotency-Key', 'refused');
  expect(response.status).toBe(400);
  expect(response.body).toMatchObject(expected);
  expect(response.headers).not.toHaveProperty('location');
  await expectNothingLeft(service, account, before);
});

test.each([
  ['without its last boundary', () => file()],
  ['cut within the file', () => file().subarray(0, -500)],
  ['cut within a header', () => Buffer.from(`--${boundary}\r\nContent-Disp`)],
  ['cut within a field', () => Buffer.concat([file(), textPart('durationMs', '100').subarray(0, -4)])],
  ['empty', () => Buffer.of()],
  ['with another boundary', () => Buffer.from(form(file()).toString('latin1').replaceAll(boundary, 'other'), 'latin1')],
  ['of garbage', () => Buffer.alloc(100_000, 'garbage ')],
  ['of JSON', () => Buffer.from('{"file":"x"}')],
])('a body %s → 422 upload_incomplete, nothing is left', async (_, body) => {
  const before = await traces(service, account);
  const response = await send(body());
  expect([response.status, response.body.code]).toEqual([422, 'upload_incomplete']);
  await expectNothingLeft(service, account, before);
});

test.each([
  ['without a body', 'HTTP/1.1', []],
  ['without a body, of HTTP/1.0', 'HTTP/1.0', []],
  ['of HTTP/1.0 without its length', 'HTTP/1.0', [form(filePart('x')).toString('latin1')]],
  ['without a body, with a semicolon behind its boundary', 'HTTP/1.1', [], ';'],
])('a request %s → 400 that says so', async (_, version, body: string[], behind = '') => {
  const head = [
    ...[`POST /v1/transcriptions ${version}`, 'Host: localhost', 'Connection: close'],
    ...[`Authorization: Bearer ${account.key}`, `Content-Type: ${formType}${behind}`, '', ...body, ''],
  ];
  const [answer] = parseAnswers(await sendRaw(service.api.port, head.join('\r\n')));
  expect(answer).toMatchObject({ status: 400, text: expect.stringContaining('The request has no body') });
});

test.each([
  ['a semicolon behind it', ';', ''],
  ['characters that no token has', '', ':/=?'],
])('a boundary with %s → accepted', async (_, behind, more) => {
  const body = Buffer.from(form(file()).toString('latin1').replaceAll(boundary, `${boundary}${more}`), 'latin1');
  const type = `${formType}${more}${behind}`;
  await service.post('/v1/transcriptions', account.key).set('Content-Type', type).send(body).expect(202);
});

test.each<[string, Buffer]>([
  ['text that is no audio', form(textPart('file', 'x'))],
  ['binary that is no audio', form(binaryText('file'))],
])('a part `file` without a file name, of %s → 415, as with one', async (_, body) => {
  const before = await traces(service, account);
  expect((await send(body)).body.code).toBe('unsupported_media');
  await expectNothingLeft(service, account, before);
});

test('a part with hundreds of headers → accepted, they say nothing', async () => {
  const headers = Array.from({ length: 500 }, (_, i) => `X-${i}: y`);
  const disposition = 'Content-Disposition: form-data; name="file"; filename="a.wav"';
  await send(form(part([...headers, disposition], audio))).expect(202);
});

test('a boundary of 1,000 characters → accepted', async () => {
  const long = 'b'.repeat(1_000);
  const body = Buffer.from(form(file()).toString('latin1').replaceAll(boundary, long), 'latin1');
  const type = `multipart/form-data; boundary=${long}`;
  await service.post('/v1/transcriptions', account.key).set('Content-Type', type).send(body).expect(202);
});

const send = (body: Buffer) => service.post('/v1/transcriptions', account.key).set('Content-Type', formType).send(body);
