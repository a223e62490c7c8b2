/** Ten uploads that come slowly and all at once, into a process of its own whose memory is watched. */
import { readFile } from 'node:fs/promises';
import { makeAccount } from '../support/service/accounts.ts';
import { startProcess } from '../support/service/processes.ts';
import { expectSound } from '../support/service/audit.ts';
import { RawUpload } from '../support/uploads/raw-upload.ts';
import { useService } from '../support/service/use-service.ts';
import { filePart, form, tone } from '../support/uploads/uploads.ts';

const uploads = 10;
const pieces = 40;
const service = await useService();

test('ten slow uploads of 10 MB at once → all accepted, with little memory, others served meanwhile', async () => {
  const account = await makeAccount(service.db, { balanceMs: 36_000_000 });
  const api = await startProcess('start-api', { DATABASE_URL: service.databaseUrl, DATA_DIR: service.dataDir });
  const peakMb = async () =>
    Number(/VmHWM:\s*(\d+) kB/.exec(await readFile(`/proc/${api.pid}/status`, 'utf8'))![1]) / 1e3;
  const body = form(filePart(await tone(625_000)));
  const clients = Array.from({ length: uploads }, (_, i) =>
    new RawUpload(api.port).head({
      Authorization: `Bearer ${account.key}`,
      'Content-Length': body.length,
      'Idempotency-Key': `upload-${i}`,
    }),
  );
  try {
    const before = await peakMb();
    const size = Math.ceil(body.length / pieces);
    for (let piece = 0; piece < pieces; piece += 1) {
      for (const client of clients) client.send(body.subarray(piece * size, (piece + 1) * size));
      // A round trip of somebody else between any two pieces.
      const headers = { Authorization: `Bearer ${account.key}` };
      expect((await fetch(`${api.url}/v1/sessions`, { headers })).status).toBe(200);
    }
    const answers = await Promise.all(clients.map((client) => client.answer()));
    expect(answers.map(({ status }) => status)).toEqual(Array(uploads).fill(202));
    expect((await peakMb()) - before).toBeLessThan(150);
    await expectSound(service);
  } finally {
    clients.forEach(({ socket }) => socket.destroy());
    await api.stop();
  }
});
