/** How many jobs a worker holds for a server that hears one at a time. */
import { writeFile } from 'node:fs/promises';
import { startHelloServer } from '../../support/models/hello-server.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { expectSound } from '../../support/service/audit.ts';
import { upload } from '../../support/service/jobs.ts';
import { startTestService } from '../../support/service/service.ts';
import { until } from '../../support/until.ts';
import { voice } from '../../support/uploads/uploads.ts';
import { useFolder } from '../../support/use-folder.ts';

const file = `${useFolder()}/voice.wav`;
await writeFile(file, await voice(1_500));
/** All of it, so that no part of it is asked for again. */
const heard = { status: 200, body: { text: 'hello', words: [{ word: 'hello', start: 0, end: 1.5 }] } };

test('a server that hears one at a time → it has one, and one more is ready', async () => {
  const held: (() => void)[] = [];
  const hello = await startHelloServer({
    script: async ({ path }) => {
      if (path.endsWith('/transcriptions')) await new Promise<void>((go) => held.push(go));
      return heard;
    },
  });
  const env = { WORKER_CONCURRENCY: '1', OPENAI_MAX_REQUESTS: '1', ...hello.env };
  const service = await startTestService({ env });
  const count = async (wanted: string) => {
    const rows = await service.db.selectFrom('sessions').select('status').execute();
    return rows.filter(({ status }) => status === wanted).length;
  };
  for (let uploads = 0; uploads < 6; uploads += 3) {
    const account = await makeAccount(service.db);
    for (let i = 0; i < 3; i += 1) await upload(service, account, file);
  }
  const worker = await service.work();
  for (let done = 0; done < 6; done += 1) {
    await until(() => held.length > 0);
    await until(async () => (await count('processing')) === (done === 0 || done === 5 ? 1 : 2));
    expect(held).toHaveLength(1);
    held.shift()!();
    await until(async () => (await count('completed')) === done + 1);
  }
  await worker.stop();
  await expectSound(service);
  await service.stop();
});
