import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RawUpload } from '../support/uploads/raw-upload.ts';
import { useService } from '../support/service/use-service.ts';
import { clients, hasPython, urllib } from '../support/clients/http-clients.ts';
import { arrange, faults } from '../support/uploads/upload-faults.ts';
import { closing, expectNothingLeft, filePart, traces } from '../support/uploads/uploads.ts';
import { jest } from '../support/run/jest.ts';
import { holdTheClock } from '../support/faults/held-clock.ts';

const oneMiB = 1024 * 1024;
const service = await useService();
beforeAll(async () => {
  for (const [name, size] of [
    ['64MiB', 64 * oneMiB],
    ['3MiB', 3 * oneMiB],
  ] as const) {
    await writeFile(bodyOf(name), Buffer.concat([filePart(Buffer.alloc(size, 7)), closing]));
  }
});

const bodyOf = (name: string) => join(process.env.TEST_FOLDER!, `body-${name}`);
const codes = [
  ...['unauthorized', 'plan_not_eligible', 'insufficient_scope', 'invalid_request', 'unsupported_media'],
  ...['file_too_large', 'too_many_queued', 'insufficient_balance'],
];
const refusals = codes.map((code) => faults.find((fault) => fault.code === code)!);
const arranged = async (code: string) => {
  const { account, headers } = await arrange(
    service.db,
    faults.find((fault) => fault.code === code)!,
  );
  const { 'Content-Length': _, ...others } = headers;
  return { account, headers: others as Record<string, string> };
};

test('at least two ordinary clients are here', () => {
  expect(clients.length).toBeGreaterThanOrEqual(2);
});

test.each(clients.flatMap(([name, client]) => refusals.map(({ code, status }) => ({ name, client, code, status }))))(
  '$name sends 64 MiB and is refused → it sees $status $code',
  async ({ client, code, status }) => {
    const { account, headers } = await arranged(code);
    const before = await traces(service, account);
    const seen = await client(`${service.url}/v1/transcriptions`, headers, bodyOf('64MiB'));
    expect({ ...seen, text: JSON.parse(seen.text) }).toMatchObject({
      ...{ status, contentType: 'application/problem+json', text: { code, status } },
    });
    await expectNothingLeft(service, account, before);
  },
);

test.each([...clients, ...(hasPython ? [['urllib', urllib] as const] : [])])(
  '%s sends 3 MiB and is refused → it sees the answer',
  async (_, client) => {
    const { headers } = await arranged('unauthorized');
    const seen = await client(`${service.url}/v1/transcriptions`, headers, bodyOf('3MiB'));
    expect(seen).toMatchObject({ status: 401, contentType: 'application/problem+json' });
  },
);

test('a client that never looks at the answer → the server reads no more than a little', async () => {
  const { headers } = await arranged('unauthorized');
  const client = new RawUpload(service.api.port).head({ ...headers, 'Content-Length': 256 * oneMiB });
  await client.flood(Buffer.alloc(256 * 1024), 256 * oneMiB);
  await client.closed;
  // 4 MiB and what Node and the kernel hold.
  expect(client.socket.bytesWritten - client.socket.writableLength).toBeLessThan(20 * oneMiB);
});

test('a client that stops sending after it was refused → the connection is closed after 2 s', async () => {
  holdTheClock('timeouts');
  const { headers } = await arranged('unauthorized');
  const client = new RawUpload(service.api.port).head({ ...headers, 'Content-Length': 1_000 }).send('x');
  await client.answer();
  jest.advanceTimersByTime(1_999);
  client.socket.write('y');
  await service.get('/v1/openapi.json').expect(200);
  expect(client.socket.closed).toBe(false);
  jest.advanceTimersByTime(1);
  // The client hears of it when it sends the next time.
  const poke = setInterval(() => client.socket.write('y'), 100);
  await client.closed;
  clearInterval(poke);
});
afterEach(() => jest.useRealTimers());
