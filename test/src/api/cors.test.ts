/** With CORS_ORIGINS set: answers to OPTIONS, and that no request goes past the checks of every request because of them. */
import { parseAnswers, rawRequest, sendRaw } from '../../support/clients/raw-http.ts';
import { operations } from '../../contract/requests.ts';
import { contract } from '../../../src/api/contract/document.ts';
import { makeSession } from '../../support/service/sessions.ts';
import { useAccount, useService } from '../../support/service/use-service.ts';
import type { RawAnswer } from '../../support/clients/raw-http.ts';

const service = await useService({ env: { CORS_ORIGINS: 'https://app.example.com' } });
const account = await useAccount(service);

const fromPage = (method: string, target: string) =>
  rawRequest(service.api.port, method, target, ['Origin: https://app.example.com']);

test.each(['/v1/sessions', '/v1/nothing', '/v1/%ff', '*'])('OPTIONS %s → 204 with what is allowed', async (target) => {
  expect(await fromPage('OPTIONS', target)).toMatchObject({
    status: 204,
    headers: {
      'access-control-allow-origin': 'https://app.example.com',
      'access-control-allow-methods': 'GET,HEAD,POST',
    },
  });
});

test('GET /docs → varies by origin, too', async () => {
  expect((await fromPage('GET', '/docs')).headers['vary']).toBe('Origin, Accept-Encoding');
});

test.each([
  ['https://app.example.com', 'https://app.example.com'],
  ['https://evil.example.com', undefined],
])('a transcript, to a page of %s → varies by origin, too, and %s may read it', async (origin, allowed) => {
  const { id } = await makeSession(service.db, account.id, { status: 'completed' });
  const asked = service.get(`/v1/sessions/${id}/transcript`, account.key).set('Origin', origin);
  const { headers } = await asked.expect(200);
  expect(headers['access-control-allow-origin']).toBe(allowed);
  expect(String(headers.vary).split(', ').sort()).toEqual(['Accept', 'Accept-Encoding', 'Authorization', 'Origin']);
});

test('what a page may send and read → what the contract declares', async () => {
  const read = await fromPage('GET', '/openapi.json');
  expect(namesIn(read, 'access-control-expose-headers')).toEqual(
    expect.arrayContaining([
      ...['ETag', 'Idempotency-Replayed', 'Location', 'RateLimit', 'RateLimit-Policy', 'Retry-After'],
      ...['WWW-Authenticate', 'X-Request-Id'],
    ]),
  );
  const allowed = await fromPage('OPTIONS', '/v1/transcriptions');
  const parameters = operations.flatMap((operation) => operation.parameters.filter((one) => one.in === 'header'));
  const declared = new Set(parameters.map(({ name }) => name));
  const names = ['Accept', 'Authorization', 'Content-Type', ...declared, 'Traceparent'].sort();
  expect(namesIn(allowed, 'access-control-allow-headers')).toEqual(names);
  const [told] = /A page may(?:\s|\\n)+send .*?, and/s.exec(JSON.stringify(contract.tags))!;
  expect([...told.matchAll(/`(.+?)`/g)].map(([, name]) => name)).toEqual(names);
});

test.each([
  ['https://app.example.com', 'https://app.example.com'],
  ['https://other.example.com', undefined],
])('what the parser refuses, to a page of %s → says that %s may read it', async (origin, allowed) => {
  const bytes = `GET /v1/sessions HTTP/1.1\r\nHost: a\r\nOrigin: ${origin}\r\nCookie: ${'c'.repeat(17_000)}\r\n\r\n`;
  const [answer] = parseAnswers(await sendRaw(service.api.port, bytes));
  expect([answer!.status, answer!.headers['access-control-allow-origin']]).toEqual([431, allowed]);
});

const namesIn = ({ headers }: RawAnswer, header: string) => headers[header]?.split(',').sort();

test('OPTIONS with two Hosts and another request behind it → one 400, and the connection is closed', async () => {
  const bytes = 'OPTIONS /v1/sessions HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\nGET /docs HTTP/1.1\r\nHost: a\r\n\r\n';
  const answers = parseAnswers(await sendRaw(service.api.port, bytes));
  expect(answers.map(({ status, headers }) => [status, headers.connection])).toEqual([[400, 'close']]);
});
