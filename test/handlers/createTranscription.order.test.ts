import { gzipSync } from 'node:zlib';
import { RawUpload } from '../support/uploads/raw-upload.ts';
import { useAccount, useService } from '../support/service/use-service.ts';
import { arrange, faults } from '../support/uploads/upload-faults.ts';
import { expectNothingLeft, filePart, form, formType, tone, traces } from '../support/uploads/uploads.ts';

const service = await useService();
const account = await useAccount(service);

const pairs = faults.flatMap((first, i) => faults.slice(i + 1).map((second) => [first.code, second.code] as const));

test.each(pairs)('%s and %s at once → the first, by the headers alone', async (...codes) => {
  const chosen = codes.map((code) => faults.find((fault) => fault.code === code)!);
  const { account: refused, headers } = await arrange(service.db, ...chosen);
  const before = await traces(service, refused);
  const client = new RawUpload(service.api.port).head({ ...headers, Expect: '100-continue' });
  const { status, headers: got, text } = await client.answer();
  expect({ status, ...JSON.parse(text) }).toMatchObject({
    ...chosen[0]!.details,
    status: chosen[0]!.status,
    code: codes[0],
  });
  expect(got.connection).toBe('close');
  expect(client.received).not.toContain('100 Continue');
  client.socket.end();
  await client.closed;
  await expectNothingLeft(service, refused, before);
});

test('a key with the scope `read` only → 403 that names the missing scope, in the header too', async () => {
  const { headers } = await arrange(
    service.db,
    faults.find(({ code }) => code === 'insufficient_scope')!,
  );
  const answer = await new RawUpload(service.api.port).head(headers).answer();
  expect(answer.headers['www-authenticate']).toBe(
    'Bearer realm="transcription", error="insufficient_scope", scope="write"',
  );
});

test.each(['rate_limited', 'too_many_queued'])('%s → Retry-After, in the problem too', async (code) => {
  const { headers } = await arrange(
    service.db,
    faults.find((fault) => fault.code === code)!,
  );
  const answer = await new RawUpload(service.api.port).head(headers).answer();
  expect(answer.headers['retry-after']).toMatch(/^[1-9]\d*$/);
  expect(JSON.parse(answer.text)).toMatchObject({ retryAfterSeconds: Number(answer.headers['retry-after']) });
});

test.each([
  ['missing', undefined],
  ['JSON', 'application/json'],
  ['urlencoded', 'application/x-www-form-urlencoded'],
  ['audio', 'audio/wav'],
  ['another multipart', 'multipart/mixed; boundary=x'],
  ['a longer name', 'multipart/form-data-x; boundary=x'],
  ['without a boundary', 'multipart/form-data'],
  ['with an empty boundary', 'multipart/form-data; boundary='],
  ['with an empty quoted boundary', 'multipart/form-data; boundary=""'],
  ['nonsense', '/;=,'],
])('a Content-Type that is %s → 415 before the body', async (_, type) => {
  const before = await traces(service, account);
  const request = service.post('/v1/transcriptions', account.key);
  const response = await (type === undefined ? request : request.set('Content-Type', type).send('{"durationMs":7}'));
  expect([response.status, response.body.code]).toEqual([415, 'unsupported_media']);
  expect(response.body.errors).toMatchObject([{ in: 'header', name: 'Content-Type' }]);
  await expectNothingLeft(service, account, before);
});

test.each(['gzip', 'GZIP', 'br', 'gzip, identity', 'x'])(
  'Content-Encoding: %s, whatever the form is → 415 before the body, and which coding is taken',
  async (coding) => {
    const before = await traces(service, account);
    const body = form(filePart(await tone(100)));
    const sent = coding === 'gzip' ? gzipSync(body) : body;
    const request = service.post('/v1/transcriptions', account.key).set('Content-Type', formType);
    const response = await request.set('Content-Encoding', coding).send(sent);
    expect([response.status, response.body.code]).toEqual([415, 'unsupported_media']);
    expect(response.body.errors).toMatchObject([{ in: 'header', name: 'Content-Encoding' }]);
    expect(response.headers['accept-encoding']).toBe('identity');
    await expectNothingLeft(service, account, before);
  },
);

test('Content-Encoding: identity, which says nothing → 202', async () => {
  const request = service.post('/v1/transcriptions', account.key).set('Content-Type', formType);
  await request
    .set('Content-Encoding', 'Identity')
    .send(form(filePart(await tone(100))))
    .expect(202);
});

test.each([
  ['empty', ''],
  ['of 256 characters', 'k'.repeat(256)],
  ['with a tab', 'a\tb'],
  ['of UTF-8', 'schlüssel'],
])('an Idempotency-Key that is %s → 400 that names it', async (_, key) => {
  const before = await traces(service, account);
  const client = new RawUpload(service.api.port);
  client.socket.setDefaultEncoding('utf8');
  client.head({ Authorization: `Bearer ${account.key}`, 'Idempotency-Key': key, 'Content-Length': 100 });
  const { status, text } = await client.answer();
  const problem = { code: 'invalid_request', errors: [{ in: 'header', name: 'Idempotency-Key' }] };
  expect({ status, ...JSON.parse(text) }).toMatchObject({ ...problem, status: 400 });
  client.socket.end();
  await expectNothingLeft(service, account, before);
});

test('Expect: 100-continue with nothing wrong in the headers → 100, then the answer to the body', async () => {
  const body = form(filePart(await tone(100)));
  const headers = { Authorization: `Bearer ${account.key}`, 'Content-Length': body.length, Expect: '100-continue' };
  const client = new RawUpload(service.api.port).head(headers);
  await client.until(/\r\n\r\n/);
  expect(client.received).toBe('HTTP/1.1 100 Continue\r\n\r\n');
  await client.send(body).until(/\r\n\r\nHTTP\/1\.1 202 Accepted/);
  client.socket.destroy();
});

test('a refused upload pipelined behind a held request → both are answered, in order', async () => {
  const { body } = await service.post('/v1/transcriptions', account.key).attach('file', await tone(100), 'a.wav');
  const client = new RawUpload(service.api.port);
  const held = `/v1/sessions/${String(body.sessionId)}/transcript?wait=1`;
  client.send(`GET ${held} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${account.key}\r\n\r\n`);
  client.head({ 'Content-Length': 1_000_000 }).send('the beginning of a body');
  await client.ended;
  client.socket.destroy();
  expect(client.received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 401']);
});
