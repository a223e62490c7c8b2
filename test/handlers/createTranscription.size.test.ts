import { RawUpload } from '../support/uploads/raw-upload.ts';
import { useAccount, useService } from '../support/service/use-service.ts';
import { boundary, closing, expectNothingLeft, filePart, form, formType } from '../support/uploads/uploads.ts';
import { textPart, tone, traces } from '../support/uploads/uploads.ts';

const limitBytes = 200_000;
const oneMiB = Buffer.alloc(1024 * 1024);
const service = await useService();
const account = await useAccount(service, { limits: { max_upload_bytes: limitBytes } });

const audioOf = async (bytes: number) => (await tone(Math.ceil(bytes / 16))).subarray(0, bytes);
const chunked = () =>
  new RawUpload(service.api.port).head({ Authorization: `Bearer ${account.key}`, 'Transfer-Encoding': 'chunked' });
const fileHead = () => filePart('').subarray(0, -2);

test('a file of exactly the limit → accepted', async () => {
  await service
    .post('/v1/transcriptions', account.key)
    .set('Content-Type', formType)
    .send(form(filePart(await audioOf(limitBytes)), textPart('durationMs', '7')))
    .expect(202);
});

test.each([1, 30_000, 100_000])('a file %s bytes beyond the limit → 413 with the limit', async (more) => {
  const before = await traces(service, account);
  const response = await service
    .post('/v1/transcriptions', account.key)
    .set('Content-Type', formType)
    .send(form(filePart(await audioOf(limitBytes + more))));
  expect([response.status, response.body]).toEqual([
    413,
    expect.objectContaining({ code: 'file_too_large', limitBytes }),
  ]);
  await expectNothingLeft(service, account, before);
});

test('a chunked file 1 byte beyond the limit → 413', async () => {
  const before = await traces(service, account);
  const client = chunked()
    .sendChunk(form(filePart(await audioOf(limitBytes + 1))))
    .send('0\r\n\r\n');
  const { status, text } = await client.answer();
  expect({ status, ...JSON.parse(text) }).toMatchObject({ status: 413, code: 'file_too_large', limitBytes });
  client.socket.destroy();
  await expectNothingLeft(service, account, before);
});

test.each([
  ['file', () => fileHead()],
  ['preamble', () => Buffer.from('x')],
  ['epilogue', () => Buffer.concat([filePart('x'), closing])],
  ['field', () => textPart('durationMs', '').subarray(0, -2)],
  ['unknown file', () => filePart('', 'x', 'other').subarray(0, -2)],
  ['file without a name', () => filePart('', '').subarray(0, -2)],
  ['part without a disposition', () => Buffer.from(`--${boundary}\r\nX: y\r\n\r\n`)],
])('a chunked body with a %s without end → refused while it comes, and soon not read any more', async (what, start) => {
  const before = await traces(service, account);
  const client = chunked().sendChunk(start());
  const chunk = Buffer.concat([Buffer.from(`${oneMiB.length.toString(16)}\r\n`), oneMiB, Buffer.from('\r\n')]);
  const sent = client.flood(chunk, 64 * oneMiB.length);
  const { status, headers, text } = await client.answer();
  expect([status, (JSON.parse(text) as { code: string }).code]).toEqual(
    what === 'unknown file' ? [400, 'invalid_request'] : [413, 'file_too_large'],
  );
  expect(headers.connection).toBe('close');
  expect(await sent).toBeLessThan(24 * oneMiB.length);
  await client.closed;
  await expectNothingLeft(service, account, before);
});
