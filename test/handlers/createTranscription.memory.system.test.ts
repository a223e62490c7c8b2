import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { wavHeader } from '../../src/audio/samples.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { startProcess } from '../support/service/processes.ts';
import { useService } from '../support/service/use-service.ts';
import { closing, filePart, formType } from '../support/uploads/uploads.ts';

const megabytes = 300;
const service = await useService();

/** A WAV file that says nothing for two and a half hours. */
function* silence(): Generator<Buffer> {
  yield filePart(wavHeader(megabytes * 1e6)).subarray(0, -2);
  const megabyte = Buffer.alloc(1e6);
  for (let i = 0; i < megabytes; i += 1) yield megabyte;
  yield Buffer.from('\r\n');
  yield closing;
}

test(`an upload of ${megabytes} MB → accepted, with little memory`, async () => {
  const account = await makeAccount(service.db, { balanceMs: 14_400_000 });
  const api = await startProcess('start-api', { DATABASE_URL: service.databaseUrl, DATA_DIR: service.dataDir });
  const peak = async () =>
    Number(/VmHWM:\s*(\d+) kB/.exec(await readFile(`/proc/${api.pid}/status`, 'utf8'))![1]) / 1e3;
  const before = await peak();
  const answer = await fetch(`${api.url}/v1/transcriptions`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${account.key}`, 'Content-Type': formType, 'Idempotency-Key': 'k' },
    body: Readable.toWeb(Readable.from(silence(), { objectMode: false, highWaterMark: 1e6 })),
    duplex: 'half',
  } as RequestInit);
  expect(answer.status).toBe(202);
  const { sessionId } = (await answer.json()) as { sessionId: string };
  expect((await stat(join(service.dataDir, 'audio', account.id, sessionId))).size).toBe(44 + megabytes * 1e6);
  // What is on its way through, whatever the size: the buffers of what was written are given back at once.
  expect((await peak()) - before).toBeLessThan(40);
  expect(await peak()).toBeLessThan(250);
});
