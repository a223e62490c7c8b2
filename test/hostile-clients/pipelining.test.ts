/** Many requests on one connection, and what comes behind them. */
import { readFileSync } from 'node:fs';
import { parseAnswers, sendRaw } from '../support/clients/raw-http.ts';
import { RawUpload } from '../support/uploads/raw-upload.ts';
import { useAccount, useService } from '../support/service/use-service.ts';
import { makeSession, twoSegments } from '../support/service/sessions.ts';
import { until } from '../support/until.ts';

const service = await useService();
const account = await useAccount(service, { limits: { requests_per_minute: 100_000 } });
afterEach(() => {
  expect(service.logLines.filter((line) => /"level":(50|60)/.test(line))).toEqual([]);
});

const get = (path: string, ...headers: string[]) =>
  [`GET ${path} HTTP/1.1`, 'Host: a', `Authorization: Bearer ${account.key}`, ...headers, '', ''].join('\r\n');

test('2,000 requests at once on one connection → as many answers, in their order', async () => {
  const paths = Array.from({ length: 2_000 }, (_, i) => (i % 2 === 0 ? '/v1/sessions' : '/v1/nothing'));
  const requests = paths.map((path, i) => get(path, ...(i === paths.length - 1 ? ['Connection: close'] : [])));
  const answers = parseAnswers(await sendRaw(service.api.port, requests.join('')));
  expect(answers.map(({ status }) => status)).toEqual(paths.map((path) => (path === '/v1/sessions' ? 200 : 404)));
  expect(new Set(answers.map(({ headers }) => headers['x-request-id'])).size).toBe(paths.length);
});

test('garbage behind a request that waits → the request has its answer first, then 400 and the end', async () => {
  const session = await makeSession(service.db, account.id, { status: 'queued' });
  const waiting = sendRaw(service.api.port, `${get(`/v1/sessions/${session.id}/transcript?wait=1`)}garbage\r\n\r\n`);
  const [first, second, ...others] = parseAnswers(await waiting);
  expect([first?.status, first?.headers.connection, second?.status, second?.headers.connection, others]).toEqual([
    ...[200, 'keep-alive', 400, 'close'],
    [],
  ]);
  expect(JSON.parse(first!.text)).toMatchObject({ sessionId: session.id, status: 'queued' });
});

test('garbage while a long answer is read → not a byte of the refusal within the answer', async () => {
  const text = 'x'.repeat(20_000_000);
  const segments = JSON.stringify([{ index: 0, startMs: 0, endMs: 7_000, text }]);
  const { id } = await makeSession(service.db, account.id, {
    status: 'completed',
    transcript: { ...twoSegments, segments, words: '[[]]' },
  });
  const client = new RawUpload(service.api.port).send(get(`/v1/sessions/${id}/transcript`));
  await client.until(/HTTP/);
  await client.send('garbage\r\n\r\n').ended;
  client.socket.destroy();
  const [answer, refusal, ...others] = parseAnswers(client.received);
  const transcript = JSON.parse(answer!.text) as { segments: { text: string }[] };
  expect(transcript.segments[0]!.text === text).toBe(true);
  expect([refusal?.status, others]).toEqual([400, []]);
});

test.each(['/docs', '/docs/', '/openapi.json', '/v1/sessions', '/v1/nothing'])(
  'GET %s with a body without end → answered, and soon not read any more',
  async (path) => {
    const chunk = Buffer.from(`10000\r\n${'x'.repeat(0x10000)}\r\n`);
    const client = new RawUpload(service.api.port).send(get(path, 'Transfer-Encoding: chunked'));
    expect(await client.flood(chunk, 64 * 1024 * 1024)).toBeLessThan(24 * 1024 * 1024);
    await client.closed;
    expect(client.received).toMatch(/^HTTP\/1\.1 (200|404) /);
  },
);

/** Connections that the service has closed, whose clients have not, and that it still holds (proc_pid_net(5)). */
function heldHalfClosed(): number {
  const port = service.api.port.toString(16).toUpperCase().padStart(4, '0');
  const lines = readFileSync('/proc/self/net/tcp', 'utf8').split('\n');
  const finWait2 = '05';
  return lines.filter((line) => {
    const [, local = '', , state, , , , , , inode] = line.trim().split(/ +/);
    return local.endsWith(`:${port}`) && state === finWait2 && inode !== '0';
  }).length;
}

test('a client that sends garbage and never closes → its connection is not held', async () => {
  const client = new RawUpload(service.api.port).send('garbage\r\n\r\n');
  await client.ended;
  await until(() => heldHalfClosed() === 1);
  await until(() => heldHalfClosed() === 0);
  client.socket.destroy();
});
