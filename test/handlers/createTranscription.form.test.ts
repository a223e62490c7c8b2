/** What becomes of the body of an upload: what an accepted one leaves, and what one is refused for, of which nothing is left. */
import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { titleOf } from '../../handlers/createTranscription.ts';
import { withFfmpeg } from '../support/faults/fake-programs.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { row } from '../support/service/jobs.ts';
import { useAccount, useService } from '../support/service/use-service.ts';
import { amrWithoutSound, ffmpeg, sine } from '../support/uploads/audio-fixtures.ts';
import { RawUpload } from '../support/uploads/raw-upload.ts';
import { boundary, closing, expectNothingLeft, filePart, form, formType } from '../support/uploads/uploads.ts';
import { part, textPart, tone, traces } from '../support/uploads/uploads.ts';
import { useFolder } from '../support/use-folder.ts';
import type { TestAccount } from '../support/service/accounts.ts';
import type { Accepted } from '../support/service/jobs.ts';

const service = await useService();
const account = await useAccount(service);
const limitBytes = 200_000;
const limited = await useAccount(service, { limits: { max_upload_bytes: limitBytes } });
const folder = useFolder();
const audio = await tone(100);
let mp3: Buffer;
beforeAll(async () => void (mp3 = await readFile(await ffmpeg(...sine(2), join(folder, 'tone.mp3')))));

const send = (body: Buffer, { key }: TestAccount = account) =>
  service.post('/v1/transcriptions', key).set('Content-Type', formType).send(body);

const uuidv7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
async function accept(body: Buffer, type = formType): Promise<Accepted> {
  const request = service.post('/v1/transcriptions', account.key).set('Content-Type', type);
  return (await request.send(body).expect(202)).body as Accepted;
}

/** The session of an upload, as its client reads it. */
async function sessionOf(body: Buffer) {
  const { sessionId } = await accept(body);
  return (await service.get(`/v1/sessions/${sessionId}`, account.key).expect(200)).body;
}

test('an upload → 202 with Location, Retry-After and the job; session, reservation, job and audio are there', async () => {
  const owner = await makeAccount(service.db, { balanceMs: 60_000 });
  const bytes = await tone(1_500);
  const response = await service.post('/v1/transcriptions', owner.key).attach('file', bytes, 'Tone.wav').expect(202);
  const { sessionId, jobId } = response.body as Accepted;
  expect(response.body).toEqual({
    sessionId: expect.stringMatching(uuidv7),
    jobId: expect.stringMatching(uuidv7),
    status: 'queued',
  });
  expect(response.headers).toMatchObject({
    location: `/v1/sessions/${sessionId}`,
    'retry-after': expect.stringMatching(/^[1-9]\d*$/),
    'content-type': 'application/json',
    'cache-control': 'no-store',
  });
  expect(response.headers).not.toHaveProperty('idempotency-replayed');

  expect(await traces(service, owner)).toEqual({
    ...{ sessions: 1, jobs: 1, records: 0, reservedMs: 1_500, balanceMs: 60_000 },
    ...{ stored: [sessionId], incoming: [] },
  });
  expect(await row(service, owner, sessionId)).toMatchObject({ job_id: jobId, reserved_ms: 1_500, attempt: 0 });
  const { body: session } = await service.get(response.headers.location!, owner.key).expect(200);
  expect(session).toEqual({
    ...{ id: sessionId, status: 'queued', title: 'Tone', durationMs: 1_500 },
    createdAt: expect.any(String),
  });

  // For the owner of the process only.
  const path = join(service.dataDir, 'audio', owner.id, sessionId);
  expect((await readFile(path)).equals(bytes)).toBe(true);
  const mode = async (file: string) => ((await stat(file)).mode & 0o777).toString(8);
  expect([await mode(path), await mode(dirname(path)), await mode(join(service.dataDir, 'audio'))]).toEqual([
    ...['600', '700', '700'],
  ]);
});

test('a form with a preamble, an epilogue and a quoted boundary (RFC 2046, section 5.1.1) → accepted', async () => {
  const body = [Buffer.from('preamble\r\n'), filePart(audio), closing, Buffer.from('epilogue\r\n')];
  await accept(Buffer.concat(body), `multipart/form-data; boundary="${boundary}"`);
});

test('a part `file` without a file name → 202, called "Untitled"', async () => {
  const file = part('Content-Disposition: form-data; name="file"', await tone(10_000));
  expect(await sessionOf(form(file))).toMatchObject({ title: 'Untitled', durationMs: 10_000 });
});

test('a file name in UTF-8, with a path and a line break, as browsers escape it → a title', async () => {
  const file = filePart(audio, '../../Besprechung — 会議%0D%0A 🎙️.m4a');
  expect(await sessionOf(form(file))).toMatchObject({ title: 'Besprechung — 会議 🎙️' });
});

test.each<[title: string | undefined, fileName: string, expected: string]>([
  [undefined, '/home/me/Board meeting.mp3', 'Board meeting'],
  [undefined, 'archive.tar.gz', 'archive.tar'],
  [undefined, 'v1.2 final', 'v1.2 final'],
  [undefined, '.mp3', 'Untitled'],
  [undefined, '', 'Untitled'],
  [undefined, '  spaces  .ogg', 'spaces'],
  [undefined, 'a\u0000b\u0007\r\n\tc\u007f\u0085.mp3', 'abc'],
  [undefined, '\u202egpj.exe\u202c\u2066.mp3', 'gpj.exe'],
  [undefined, 'lone \ud83d surrogate.mp3', 'lone \ufffd surrogate'],
  [undefined, `${'a'.repeat(300)}.mp3`, 'a'.repeat(255)],
  ['  Call 4711.2  ', 'minutes.mp3', 'Call 4711.2'],
  ['\u202eexe.tpircs', 'minutes.mp3', 'exe.tpircs'],
  [' \u200e ', 'minutes.mp3', 'minutes'],
])('the title %j and the file name %j → %j', (title, fileName, expected) => {
  expect(titleOf(title, fileName)).toBe(expected);
});

test('title and reference of the form → those of the session, in lists as well', async () => {
  const [title, reference] = ['Budget 2027 — first draft', 'TICKET-4711 / ü'];
  const body = form(textPart('title', ` ${title} `), filePart(audio, 'fakepath.wav'), textPart('reference', reference));
  const session = await sessionOf(body);
  expect(session).toMatchObject({ title, reference });
  const { body: list } = await service.get('/v1/sessions?limit=1', account.key);
  expect(list.items).toEqual([session]);
});

type Field = [name: string, value: string];
const terms = (count: number): Field[] =>
  Array.from({ length: count }, (_, index) => ['keyterms', `${index} `.padEnd(60, '語')]);

test.each<[string, Field[], object]>([
  ['nothing', [], { language: null, speakers: null, keyterms: null }],
  ['a language and speakers', [['language', 'DEU'], ['speakers', '20']], { language: 'de', speakers: 20 }], // prettier-ignore
  ['a language with a script', [['language', 'zh-hant']], { language: 'zh-Hant' }],
  ['keyterms that are SQL', [['keyterms', `{"a",'b\\'}`], ['keyterms', 'null, "é"']], { keyterms: [`{"a",'b\\'}`, 'null, "é"'] }], // prettier-ignore
  ['100 keyterms of 60 characters', terms(100), { keyterms: terms(100).map(([, term]) => term) }],
])('a form with %s → stored; the language is answered in its canonical spelling', async (_, fields, expected) => {
  const session = await sessionOf(form(...fields.map(([name, value]) => textPart(name, value)), filePart(audio)));
  const stored = await row(service, account, String(session.id));
  expect(stored).toMatchObject(expected);
  expect(session.language).toBe(stored.language ?? undefined);
  expect(session).not.toHaveProperty('keyterms');
});

const invalid = { status: 400, code: 'invalid_request' };
const named = (name: string, message?: string) => ({
  ...invalid,
  errors: [{ in: 'body', name, ...(message !== undefined && { message }) }],
});
const empty = { ...named('file', 'is empty'), code: 'empty_file' };
const incomplete = { status: 422, code: 'upload_incomplete' };
const file = () => filePart(audio);
const dispositionOf = (name: string) => `Content-Disposition: form-data; name="${name}"`;
const base64 = 'Content-Transfer-Encoding: base64';
const misnamed = 'is not known; the recording goes in "file"';
const asItIs = 'must be sent as it is, without Content-Transfer-Encoding';

test.each<[string, () => Buffer, object]>([
  ['without parts', () => closing, named('file', 'is required')],
  ['without a file', () => form(textPart('durationMs', '100')), named('file', 'is required')],
  ['with `file` as text beside the file', () => form(file(), textPart('file', 'x')), named('file', 'is repeated')],
  ['with an empty file', () => form(filePart('')), empty],
  ['with two files', () => form(file(), file()), named('file', 'is repeated')],
  ['with an unknown file', () => form(file(), filePart('x', 'x.wav', 'audio')), named('audio', 'is not known')],
  ['with only an unknown file', () => form(filePart(audio, 'x.wav', 'audio')), named('audio', misnamed)],
  [
    'with a file in base64',
    () => form(part([`${dispositionOf('file')}; filename="a"`, base64], 'UklGRg==')),
    named('file', asItIs),
  ],
  ['with durationMs as a file', () => form(file(), filePart('7', '7', 'durationMs')), named('durationMs')],
  ['with a field without a name', () => form(file(), part('Content-Disposition: form-data', '7')), invalid],
  ['with a field name of 5,000', () => form(file(), textPart('n'.repeat(5_000), '7')), invalid],
  ['with a title of 100 KB', () => form(textPart('title', 'x'.repeat(100_000)), file()), named('title', 'is too long')],
  ['with a part without headers', () => form(file(), part([], 'x')), invalid],
  ['without its last boundary', () => file(), incomplete],
  ['of no byte', () => Buffer.of(), incomplete],
])('a form %s → a refusal that says so, nothing is left', async (_, body, expected) => {
  const before = await traces(service, account);
  const response = await send(body()).set('Idempotency-Key', 'refused');
  expect({ ...response.body, status: response.status }).toMatchObject(expected);
  expect(response.headers).not.toHaveProperty('location');
  await expectNothingLeft(service, account, before);
});

test('a file of exactly the limit → accepted', async () => {
  await send(form(filePart(await audioOf(limitBytes)), textPart('durationMs', '7')), limited).expect(202);
});

test.each([1, 100_000])('a file %s bytes beyond the limit → 413 with the limit', async (more) => {
  const before = await traces(service, limited);
  const { body } = await send(form(filePart(await audioOf(limitBytes + more))), limited).expect(413);
  expect(body).toMatchObject({ code: 'file_too_large', limitBytes });
  await expectNothingLeft(service, limited, before);
});
const audioOf = async (bytes: number) => (await tone(Math.ceil(bytes / 32))).subarray(0, bytes);

const oneMiB = Buffer.alloc(1024 * 1024);
test.each([
  ['file', () => filePart('').subarray(0, -2)],
  ['epilogue', () => Buffer.concat([filePart('x'), closing])],
  ['unknown file', () => filePart('', 'x', 'other').subarray(0, -2)],
])('a chunked body with a %s without end → refused while it comes, and soon not read any more', async (what, start) => {
  const before = await traces(service, limited);
  const head = { Authorization: `Bearer ${limited.key}`, 'Transfer-Encoding': 'chunked' };
  const client = new RawUpload(service.api.port).head(head).sendChunk(start());
  const chunk = Buffer.concat([Buffer.from(`${oneMiB.length.toString(16)}\r\n`), oneMiB, Buffer.from('\r\n')]);
  const sent = client.flood(chunk, 64 * oneMiB.length);
  const { status, headers, text } = await client.answer();
  expect([status, (JSON.parse(text) as { code: string }).code]).toEqual(
    what === 'unknown file' ? [400, 'invalid_request'] : [413, 'file_too_large'],
  );
  expect(headers.connection).toBe('close');
  expect(await sent).toBeLessThan(24 * oneMiB.length);
  await client.closed;
  await expectNothingLeft(service, limited, before);
});

test.each<[string, () => Buffer]>([
  ['2 s', () => mp3],
  ['46 hours in 8 MiB, which take minutes to measure', () => amrWithoutSound(8 * oneMiB.length)],
])('audio that is longer than the account may send: %s → 422 with the limit', async (_, content) => {
  const short = await makeAccount(service.db, { limits: { max_audio_ms: 1_000 } });
  const before = await traces(service, short);
  const { body } = await send(form(filePart(content())), short).expect(422);
  expect(body).toMatchObject({ code: 'audio_too_long', limitMs: 1_000 });
  await expectNothingLeft(service, short, before);
});

test.each([
  ['the hint', [textPart('durationMs', '3600000')], 3_600_000],
  ['the measurement', [], 2_000],
  ['the measurement, whatever the hint', [textPart('durationMs', '1')], 2_000],
])('a balance too small by %s → 402 with what is there and what is needed', async (_, hint, requiredMs) => {
  const poor = await makeAccount(service.db, { balanceMs: 1_500 });
  const before = await traces(service, poor);
  const { body } = await send(form(...hint, filePart(mp3)), poor).expect(402);
  expect(body).toMatchObject({ code: 'insufficient_balance', availableMs: 1_500 });
  expect(body.detail).toMatch(/: 1\.5 s are left, and this audio is (1 h|[12](\.\d+)? s) long\.$/);
  expect(Math.abs(Number(body.requiredMs) - requiredMs)).toBeLessThanOrEqual(100);
  await expectNothingLeft(service, poor, before);
});

test('audio that can not be measured → the longest audio of the account is reserved', async () => {
  const rich = await makeAccount(service.db, { balanceMs: 100_000, limits: { max_audio_ms: 60_000 } });
  const { body } = await withFfmpeg('kill -XCPU $$', async () => send(form(filePart(mp3)), rich).expect(202));
  const session = await row(service, rich, String(body.sessionId));
  expect(session).toMatchObject({ duration_ms: null, reserved_ms: 60_000 });
  expect(await traces(service, rich)).toMatchObject({ reservedMs: 60_000 });
});

test.each([
  ['a machine without a working ffmpeg', 'echo secret-from-inside >&2; exit 127'],
  ['ffmpeg is killed, as where memory runs out', 'echo secret-from-inside >&2; kill -KILL $$'],
])('%s → 503 that says nothing from inside, nothing is left', async (_, broken) => {
  const before = await traces(service, account);
  const response = await withFfmpeg(broken, async () => send(form(filePart(mp3))));
  expect([response.status, response.body.code]).toEqual([503, 'unavailable']);
  expect(response.headers['retry-after']).toBe('5');
  expect(response.text).not.toMatch(/ffmpeg|secret/);
  await expectNothingLeft(service, account, before);
});
