/** What the body of an upload is refused for: its form, its size, and what it holds. Nothing is left of any. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withFfmpeg } from '../support/faults/fake-programs.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { row } from '../support/service/jobs.ts';
import { useAccount, useService } from '../support/service/use-service.ts';
import { amrWithoutSound, ffmpeg, pictures, sine } from '../support/uploads/audio-fixtures.ts';
import { RawUpload } from '../support/uploads/raw-upload.ts';
import { closing, expectNothingLeft, filePart, form, formType } from '../support/uploads/uploads.ts';
import { part, textPart, tone, traces } from '../support/uploads/uploads.ts';
import { useFolder } from '../support/use-folder.ts';
import type { TestAccount } from '../support/service/accounts.ts';

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

const invalid = { status: 400, code: 'invalid_request' };
const named = (name: string, message?: string) => ({
  ...invalid,
  errors: [{ in: 'body', name, ...(message !== undefined && { message }) }],
});
const empty = { ...named('file', 'is empty'), code: 'empty_file' };
const incomplete = { status: 422, code: 'upload_incomplete' };
const file = () => filePart(audio);
const nameless = (content: Buffer | string) => part('Content-Disposition: form-data; name="file"', content);
const field = (name: string) => `Content-Disposition: form-data; name="${name}"`;
const base64 = 'Content-Transfer-Encoding: base64';
const latin1 = Buffer.from('Müller', 'latin1');
const misnamed = 'is not known; the recording goes in "file"';
const asItIs = 'must be sent as it is, without Content-Transfer-Encoding';

test.each<[string, () => Buffer, object]>([
  ['without a file', () => form(textPart('durationMs', '100')), named('file', 'is required')],
  ['with `file` as text beside the file', () => form(file(), textPart('file', 'x')), named('file', 'is repeated')],
  ['with an empty file', () => form(filePart('')), empty],
  ['with two files', () => form(file(), file()), named('file', 'is repeated')],
  ['with an unknown field', () => form(textPart('project', 'en'), file()), named('project', 'is not known')],
  ['with an unknown file', () => form(file(), filePart('x', 'x.wav', 'audio')), named('audio', 'is not known')],
  ['with only an unknown file', () => form(filePart(audio, 'x.wav', 'audio')), named('audio', misnamed)],
  ['with Latin-1 in a field', () => form(part(field('title'), latin1), file()), named('title', 'must be UTF-8')],
  [
    'with a file in base64',
    () => form(part([`${field('file')}; filename="a"`, base64], 'UklGRg==')),
    named('file', asItIs),
  ],
  ['with durationMs as a file', () => form(file(), filePart('7', '7', 'durationMs')), named('durationMs')],
  ['with a field whose name is empty', () => form(file(), textPart('', '7')), invalid],
  ['with a field without a name', () => form(file(), part('Content-Disposition: form-data', '7')), invalid],
  ['with a field name of 5,000', () => form(file(), textPart('n'.repeat(5_000), '7')), invalid],
  ['with a title of 100 KB', () => form(textPart('title', 'x'.repeat(100_000)), file()), named('title', 'is too long')],
  ['with malformed part headers', () => form(part(['no colon here', ':'], 'x'), file()), invalid],
  ['without its last boundary', () => file(), incomplete],
  ['cut within a field', () => Buffer.concat([file(), textPart('durationMs', '100').subarray(0, -4)]), incomplete],
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

test.each([1, 30_000, 100_000])('a file %s bytes beyond the limit → 413 with the limit', async (more) => {
  const before = await traces(service, limited);
  const { body } = await send(form(filePart(await audioOf(limitBytes + more))), limited).expect(413);
  expect(body).toMatchObject({ code: 'file_too_large', limitBytes });
  await expectNothingLeft(service, limited, before);
});
const audioOf = async (bytes: number) => (await tone(Math.ceil(bytes / 16))).subarray(0, bytes);

const oneMiB = Buffer.alloc(1024 * 1024);
test.each([
  ['file', () => filePart('').subarray(0, -2)],
  ['preamble', () => Buffer.from('x')],
  ['epilogue', () => Buffer.concat([filePart('x'), closing])],
  ['field', () => textPart('durationMs', '').subarray(0, -2)],
  ['file without a name', () => filePart('', '').subarray(0, -2)],
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

const unsupported = { status: 415, code: 'unsupported_media', errors: [{ in: 'body', name: 'file' }] };
test.each<[string, () => Promise<Buffer>, object]>([
  ['text without a file name', async () => form(nameless('x')), unsupported],
  ['a list that names a file of the server', async () => form(filePart(await playlist(), 'list.m3u8')), unsupported],
  ['pictures', async () => form(filePart(await video())), { status: 422, code: 'no_audio_track' }],
])('a file that is %s → refused as what it is, nothing is left', async (_, body, expected) => {
  const before = await traces(service, account);
  const response = await send(await body());
  expect({ ...response.body, status: response.status }).toMatchObject(expected);
  expect(response.text).not.toMatch(/ffmpeg|incoming|secret/);
  await expectNothingLeft(service, account, before);
});
const video = async () => readFile(await ffmpeg(...pictures(1), join(folder, 'video.mp4')));
async function playlist(): Promise<string> {
  const secret = join(folder, 'secret.wav');
  await writeFile(secret, await tone(1_000));
  return `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n${secret}\n#EXT-X-ENDLIST\n`;
}

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
