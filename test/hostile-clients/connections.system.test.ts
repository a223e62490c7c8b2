/** Thousands of connections that do nothing, in a process of its own, while others are served. */
import { once } from 'node:events';
import { connectionLimit } from '../../src/api/connections/limits.ts';
import { steadyPort } from '../rig/ports.ts';
import { startProcess } from '../support/service/processes.ts';
import { RawUpload } from '../support/uploads/raw-upload.ts';
import { useAccount, useService } from '../support/service/use-service.ts';
import { filePart, form, tone } from '../support/uploads/uploads.ts';
import { until } from '../support/until.ts';

const service = await useService();
const account = await useAccount(service, { limits: { requests_per_minute: 100_000 } });

/** Each is there, or was refused. */
async function openMany(count: number, port: number, firstBytes = ''): Promise<RawUpload[]> {
  const opened = Array.from({ length: count }, () => new RawUpload(port).send(firstBytes));
  await Promise.all(
    opened.map(({ socket, closed }) => Promise.race([once(socket, 'connect').catch(() => closed), closed])),
  );
  return opened;
}

/** By the service. */
const isClosed = ({ socket }: RawUpload) => socket.readableEnded || socket.closed;

async function list(port: number): Promise<number | undefined> {
  const headers = { Authorization: `Bearer ${account.key}`, Connection: 'close' };
  const answer = await fetch(`http://127.0.0.1:${port}/v1/sessions`, { headers }).catch(() => undefined);
  return answer?.status;
}

const processOf = (env: Record<string, string> = {}, wrapper: string[] = []) =>
  startProcess(
    'start-api',
    { DATABASE_URL: service.databaseUrl, DATA_DIR: service.dataDir, ...env },
    undefined,
    wrapper,
  );

test('3,000 silent connections, 300 that send a byte now and then, 300 kept alive → others are served; 408 ends the first', async () => {
  const api = await processOf();
  const silent = await openMany(3_000, api.port);
  const trickling = await openMany(300, api.port, 'GET /v1/sessions HTTP/1.1\r\n');
  const keptAlive = await openMany(300, api.port, 'GET /v1/nothing HTTP/1.1\r\nHost: a\r\n\r\n');
  const timer = setInterval(() => trickling.forEach(({ socket }) => socket.writable && socket.write('X')), 1_000);
  try {
    let served = 0;
    await until(async () => {
      expect(await list(api.port)).toBe(200);
      served += 1;
      return [...silent, ...trickling].every(isClosed);
    });
    expect(served).toBeGreaterThan(20);
    expect(silent.concat(trickling).filter(({ received }) => !received.startsWith('HTTP/1.1 408 '))).toEqual([]);
    expect(keptAlive.filter((client) => isClosed(client) || !client.received.startsWith('HTTP/1.1 404 '))).toEqual([]);
  } finally {
    clearInterval(timer);
    [...silent, ...trickling, ...keptAlive].forEach(({ socket }) => socket.destroy());
    await api.stop();
  }
});

test('more connections than there are file descriptors → those that wait are closed for new ones, uploads go on', async () => {
  const opsPort = await steadyPort();
  const api = await processOf({ OPS_PORT: String(opsPort) }, ['prlimit', '--nofile=512:512']);
  const body = form(filePart(await tone(2_000)));
  const upload = new RawUpload(api.port).head({
    Authorization: `Bearer ${account.key}`,
    'Content-Length': body.length,
  });
  upload.send(body.subarray(0, 10_000));
  const connections: RawUpload[] = [];
  try {
    for (let i = 0; i < 8; i += 1)
      connections.push(...(await openMany(100, api.port, 'GET /v1/nothing HTTP/1.1\r\nHost: a\r\n\r\n')));
    await until(async () => (await list(api.port)) === 200);
    expect(await upload.send(body.subarray(10_000)).answer()).toMatchObject({ status: 202 });
    const ops = async (path: string) => (await fetch(`http://127.0.0.1:${opsPort}${path}`)).text();
    expect(await ops('/readyz')).toBe('ready\n');
    expect(await ops('/metrics')).toMatch(/^transcription_refused_connections_total [1-9]/m);
    expect(connections.some(isClosed)).toBe(true);
  } finally {
    [...connections, upload].forEach(({ socket }) => socket.destroy());
    await api.stop();
  }
});

test.each([
  [Infinity, 10_000],
  [1_048_576, 10_000],
  [20_000, 9_872],
  [100, 16],
])('%s open files → at most %s connections', (files, connections) => {
  expect(connectionLimit(files)).toBe(connections);
});
