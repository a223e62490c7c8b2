/** Clients that ask for much and do not take it. */
import { randomBytes } from 'node:crypto';
import { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { jest } from '../support/run/jest.ts';
import { Pace } from '../../src/api/connections/limits.ts';
import { plainGet } from '../support/clients/plain-get.ts';
import { useAccount, useService } from '../support/service/use-service.ts';
import { makeSession, twoSegments } from '../support/service/sessions.ts';
import { until } from '../support/until.ts';
import type { Socket } from 'node:net';

const signs = Buffer.from('!#$%&()*+,-./:;<=>?@[]^_`{|}~');
/** More than any buffer takes, compressed as well, and without a word that search would have to know. */
const text = Buffer.from(randomBytes(24_000_000).map((byte) => signs[byte % signs.length]!)).toString('latin1');
const service = await useService();
const account = await useAccount(service);
let path: string;
beforeAll(async () => {
  const segments = JSON.stringify([{ index: 0, startMs: 0, endMs: 7_000, text }]);
  const transcript = { ...twoSegments, segments, words: '[[]]' };
  const { id } = await makeSession(service.db, account.id, { status: 'completed', transcript });
  path = `/v1/sessions/${id}/transcript`;
});
beforeEach(() => {
  // A clock that only the test moves, for what watches connections; sockets and database go on.
  jest.useFakeTimers({
    doNotFake: [
      ...(['Date', 'hrtime', 'nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate'] as const),
      ...(['setTimeout', 'clearTimeout'] as const),
    ],
  });
});
afterEach(() => jest.useRealTimers());

/** A client that takes nothing until it is told to; resolves when the answer has begun to come. */
async function ask(...headers: string[]): Promise<{ socket: Socket; closed: Promise<unknown> }> {
  const socket = connect(service.api.port, '127.0.0.1');
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.on('error', () => undefined);
  const lines = [`GET ${path} HTTP/1.1`, 'Host: a', `Authorization: Bearer ${account.key}`, ...headers, '', ''];
  socket.write(lines.join('\r\n'));
  await new Promise((resolve) => socket.once('readable', resolve));
  return { socket, closed };
}

/** Requests that have ended. */
const ended = () => service.logLines.filter((line) => line.includes('"operation":"getTranscript"')).length;

/** Passes time in steps, and lets the kernel take meanwhile what it has room for. */
async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 5_000) {
    jest.advanceTimersByTime(5_000);
    for (let turns = 0; turns < 200; turns += 1) await new Promise(setImmediate);
  }
}

test.each([
  ['as it is', 'identity'],
  ['compressed', 'gzip'],
])('an answer %s that nobody takes → its connection is closed, not within 30 s', async (_, encoding) => {
  const before = ended();
  const { socket } = await ask(`Accept-Encoding: ${encoding}`);
  await pass(25_000);
  expect(ended()).toBe(before);
  // Put off for as long as the kernel still took something.
  await until(() => {
    jest.advanceTimersByTime(5_000);
    return ended() === before + 1;
  });
  socket.destroy();
});

test('an answer that is taken slowly but steadily → comes whole', async () => {
  const { socket, closed } = await ask('Connection: close');
  let bytes = 0;
  socket.on('data', (chunk) => {
    const steps = Math.floor(bytes / 2e6);
    bytes += chunk.length;
    // 2 MB in 5 s.
    if (Math.floor(bytes / 2e6) > steps) jest.advanceTimersByTime(5_000);
  });
  await closed;
  expect(bytes).toBeGreaterThan(text.length);
});

test('an answer of wide characters → no write that a client of 16 KiB/s could not take within 30 s', async () => {
  const segments = JSON.stringify([{ index: 0, startMs: 0, endMs: 7_000, text: '界'.repeat(250_000) }]);
  const transcript = { ...twoSegments, segments, words: '[[]]' };
  const { id } = await makeSession(service.db, account.id, { status: 'completed', transcript });
  const writes = [jest.spyOn(ServerResponse.prototype, 'write'), jest.spyOn(ServerResponse.prototype, 'end')];
  try {
    const { bytes } = await plainGet(`${service.url}/v1/sessions/${id}/transcript`, {
      Authorization: `Bearer ${account.key}`,
    });
    const lengths = writes.flatMap(({ mock }) => mock.calls.map(([body]) => (body as Buffer | undefined)?.length ?? 0));
    expect(lengths.reduce((sum, length) => sum + length)).toBe(bytes.length);
    expect(Math.max(...lengths)).toBeLessThan(30 * 16 * 1024);
  } finally {
    for (const write of writes) write.mockRestore();
  }
});

test.each([
  ['nothing', () => 0, 30, 'stalled'],
  ['16,383 bytes per second', (seconds: number) => seconds * 16_383, 60, 'slow'],
  ['16,384 bytes per second', (seconds: number) => seconds * 16_384, undefined, undefined],
  ['a megabyte every 29 s', (seconds: number) => Math.floor(seconds / 29) * 1_000_000, undefined, undefined],
  ['a megabyte, then nothing', () => 1_000_000, 31, 'stalled'],
])('a client that takes %s → is given up in time, or never', (_, takenAfter, givenUpAfter, why) => {
  const pace = new Pace(0, 1_000_000);
  const faults = Array.from({ length: 600 }, (__, i) => pace.faultAt(takenAfter(i + 1), 1_000_000 + (i + 1) * 1_000));
  const first = faults.findIndex((fault) => fault !== undefined);
  expect([faults[first], first === -1 ? undefined : first + 1]).toEqual([why, givenUpAfter]);
});
