/** What Node's HTTP parser refuses is answered like any other error, over a socket that speaks no proper HTTP. */
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { answerParserRefusals } from '../../../../src/api/connections/parser-refusals.ts';
import { listen } from '../../../../src/ops/listening.ts';
import { assertConforms } from '../../../support/clients/contract.ts';
import { parseAnswers, sendRaw } from '../../../support/clients/raw-http.ts';
import { useService } from '../../../support/service/use-service.ts';
import type { RawAnswer } from '../../../support/clients/raw-http.ts';

const service = await useService();

function expectProblem(answer: RawAnswer | undefined, status: number, code: string): void {
  expect(answer).toMatchObject({
    status,
    headers: {
      connection: 'close',
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
  });
  // RFC 9110, section 6.6.1
  expect(Math.abs(Date.parse(answer!.headers['date']!) - Date.now())).toBeLessThan(60_000);
  const body = JSON.parse(answer!.text) as object;
  expect(body).toMatchObject({ type: 'about:blank', status, code, requestId: answer!.headers['x-request-id'] });
  assertConforms({ method: 'GET', path: '/unknown', ...answer! });
  expect(answer!.text).not.toMatch(/HPE_|node:|\.ts:/);
}

test.each([
  ['no HTTP at all', 'hello\r\n\r\n'],
  ['TLS on the plain port', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\r\n\r\n'],
])('%s → 400 invalid_request', async (_, bytes) => {
  const answers = parseAnswers(await sendRaw(service.api.port, bytes));
  expect(answers).toHaveLength(1);
  expectProblem(answers[0], 400, 'invalid_request');
});

const good = 'GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n';

test.each([
  ['FETCH /v1/sessions HTTP/1.1\r\nHost: a\r\n\r\n', 501, 'not_implemented'],
  [`${good}FETCH /v1/sessions FTP/1.1\r\nHost: a\r\n\r\n`, 400, 'invalid_request'],
  ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 505, 'http_version_not_supported'],
  ['GET /v1/sessions HTTP/2.0\r\nHost: a\r\n\r\n', 505, 'http_version_not_supported'],
  [`GET /docs HTTP/2.0\r\nHost: a\r\n\r\n${good}`, 505, 'http_version_not_supported'],
])('%j → %i %s, and the connection is closed', async (bytes, status, code) => {
  const answers = parseAnswers(await sendRaw(service.api.port, bytes));
  expect(answers).toHaveLength(bytes.startsWith(good) ? 2 : 1);
  expectProblem(answers.at(-1), status, code);
});

test.each([
  ['a path', `GET /v1/sessions?cursor=${'a'.repeat(17_000)} HTTP/1.1\r\nHost: a\r\n\r\n`],
  ['all headers', `GET /v1/sessions HTTP/1.1\r\nHost: a\r\n${'Cookie: a=1\r\n'.repeat(2_000)}\r\n`],
])('%s beyond 16 KiB → 431 headers_too_large', async (_, bytes) => {
  const answers = parseAnswers(await sendRaw(service.api.port, bytes));
  expect(answers).toHaveLength(1);
  expectProblem(answers[0], 431, 'headers_too_large');
});

test('headers that do not end in time → 408 request_timeout', async () => {
  // The service waits 20 s; only the times differ here.
  const server = createServer({ headersTimeout: 100, connectionsCheckingInterval: 20 });
  answerParserRefusals(server);
  const port = await listen(server, 0, '127.0.0.1', 'PORT');
  const answers = parseAnswers(await sendRaw(port, 'GET /v1/sessions HTTP/1.1\r\nHost: a\r\n'));
  server.close();
  expect(answers).toHaveLength(1);
  expectProblem(answers[0], 408, 'request_timeout');
});

test('a connection that is reset by the client → no answer, no error in the log', async () => {
  const from = service.logLines.length;
  const socket = connect(service.api.port, '127.0.0.1');
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  socket.write('GET /v1/sessions HTTP/1.1\r\n');
  socket.resetAndDestroy();
  await service.get('/v1/openapi.json').expect(200);
  expect(service.logLines.slice(from).join('')).not.toContain('"err"');
});
