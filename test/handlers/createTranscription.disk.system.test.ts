import { mkdtemp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { makeAccount } from '../support/service/accounts.ts';
import { startProcess } from '../support/service/processes.ts';
import { useService } from '../support/service/use-service.ts';
import { canMountDisks, smallDisk } from '../support/faults/small-disk.ts';
import { expectNothingLeft, filePart, form, formType, tone, traces } from '../support/uploads/uploads.ts';

const oneMiB = 1024 * 1024;
const service = await useService();

test('the disk fills up while the upload comes → 503 with Retry-After, and there is room for the next', async () => {
  // Where mounting is forbidden, the check that runs with every 8 MiB stands for it (test/src/api/uploads/receiving.test.ts).
  if (!canMountDisks()) return;
  const account = await makeAccount(service.db);
  const before = await traces(service, account);
  const folder = await mkdtemp(join(process.env.TEST_FOLDER!, 'small-disk-'));
  // The store of the next process that starts becomes the database's own.
  await service.db.deleteFrom('audio_store').execute();
  const api = await startProcess(
    'start-api',
    { DATABASE_URL: service.databaseUrl, DATA_DIR: folder },
    undefined,
    smallDisk(folder, '8m'),
  );
  const incoming = join('/proc', String(api.pid), 'root', folder, 'audio', 'incoming');
  try {
    const post = (body: Buffer) =>
      fetch(`${api.url}/v1/transcriptions`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${account.key}`, 'Content-Type': formType, 'Idempotency-Key': 'k' },
        // Without a length: it can't be known beforehand that there is no room.
        body: new Blob([new Uint8Array(body)]).stream(),
        duplex: 'half',
      } as RequestInit);
    const refused = await post(form(filePart(Buffer.alloc(16 * oneMiB))));
    expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([503, 'unavailable']);
    expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(await readdir(incoming)).toEqual([]);
    await expectNothingLeft(service, account, before);
    expect((await post(form(filePart(await tone(1_000))))).status).toBe(202);
  } finally {
    await api.stop();
  }
});
