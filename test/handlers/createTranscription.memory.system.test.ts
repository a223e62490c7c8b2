import { readFile, stat } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { text } from 'node:stream/consumers';
import { makeAccount } from '../support/service/accounts.ts';
import { startProcess } from '../support/service/processes.ts';
import { useService } from '../support/service/use-service.ts';
import { closing, filePart, formType } from '../support/uploads/uploads.ts';
import type { IncomingMessage } from 'node:http';

/** `HOSTILE_CLIENTS=full`: as much as an upload may have by the plans. */
const megabytes = process.env.HOSTILE_CLIENTS === 'full' ? 1_073 : 300;
const service = await useService();

/** A WAV file of 48 kHz stereo, which says nothing for 26 minutes or more. */
function* silence(): Generator<Buffer> {
  const header = Buffer.alloc(44);
  header.write('RIFF    WAVEfmt ', 0);
  header.writeUInt32LE(36 + megabytes * 1e6, 4);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(2, 22);
  header.writeUInt32LE(48_000, 24);
  header.writeUInt32LE(192_000, 28);
  header.writeUInt16LE(4, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(megabytes * 1e6, 40);
  yield filePart(header).subarray(0, -2);
  const second = Buffer.alloc(1e6);
  for (let i = 0; i < megabytes; i += 1) yield second;
  yield Buffer.from('\r\n');
  yield closing;
}

test(`an upload of ${megabytes} MB → accepted, with little memory`, async () => {
  const account = await makeAccount(service.db, { balanceMs: 14_400_000 });
  const api = await startProcess('start-api', { DATABASE_URL: service.databaseUrl, DATA_DIR: service.dataDir });
  const peak = async () =>
    Number(/VmHWM:\s*(\d+) kB/.exec(await readFile(`/proc/${api.pid}/status`, 'utf8'))![1]) / 1e3;
  try {
    const before = await peak();
    const headers = { Authorization: `Bearer ${account.key}`, 'Content-Type': formType, 'Idempotency-Key': 'k' };
    const upload = request({ port: api.port, method: 'POST', path: '/v1/transcriptions', headers });
    const answered = new Promise<IncomingMessage>((resolve, reject) =>
      upload.once('response', resolve).once('error', reject),
    );
    await pipeline(Readable.from(silence(), { objectMode: false, highWaterMark: 1e6 }), upload);
    const answer = await answered;
    const body = await text(answer);
    expect([answer.statusCode, body]).toEqual([202, expect.stringContaining('"queued"')]);
    const { sessionId } = JSON.parse(body) as { sessionId: string };
    expect((await stat(join(service.dataDir, 'audio', account.id, sessionId))).size).toBe(44 + megabytes * 1e6);
    if (process.env.HOSTILE_CLIENTS === 'full') process.stderr.write(`peak ${before} → ${await peak()} MB\n`);
    // What is on its way through, whatever the size: the buffers of what was written are given back at once.
    expect((await peak()) - before).toBeLessThan(40);
    expect(await peak()).toBeLessThan(250);
  } finally {
    await api.stop();
  }
});
