/** A server that hears many recordings at once: they wait for it, and not for this machine's cores. */
import { writeFile } from 'node:fs/promises';
import { startHelloServer } from '../../support/models/hello-server.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { expectSound } from '../../support/service/audit.ts';
import { upload } from '../../support/service/jobs.ts';
import { startTestService } from '../../support/service/service.ts';
import { until } from '../../support/until.ts';
import { voice } from '../../support/uploads/uploads.ts';
import { useFolder } from '../../support/use-folder.ts';
import type { TestAccount } from '../../support/service/accounts.ts';

const file = `${useFolder()}/voice.wav`;
await writeFile(file, await voice(1_500));
/** All of it, so that no part of it is asked for again. */
const heard = { status: 200, body: { text: 'hello', words: [{ word: 'hello', start: 0, end: 1.5 }] } };

/** A service whose server answers when the test lets it, in the order of its requests. */
async function begin(env: Record<string, string>) {
  const held: (() => void)[] = [];
  const hello = await startHelloServer({
    script: async ({ path }) => {
      if (path.endsWith('/transcriptions')) await new Promise<void>((go) => held.push(go));
      return heard;
    },
  });
  const service = await startTestService({ env: { ...env, ...hello.env } });
  const counts = async () => {
    const rows = await service.db.selectFrom('sessions').select('status').execute();
    const of = (status: string) => rows.filter((row) => row.status === status).length;
    return { of };
  };
  const uploads = async (account: TestAccount, count: number) => {
    for (let i = 0; i < count; i += 1) await upload(service, account, file);
  };
  const areProcessing = (count: number) => until(counts, ({ of }) => of('processing') === count);
  return { service, held, counts, uploads, areProcessing };
}

test('16 short uploads of four accounts, two cores → the server has all that it gets at first, and a quarter more are ready', async () => {
  const { service, held, counts, uploads, areProcessing } = await begin({ WORKER_CONCURRENCY: '2' });
  for (let account = 0; account < 4; account += 1) await uploads(await makeAccount(service.db), 4);
  const worker = await service.work();
  await areProcessing(10);
  await until(() => held.length === 8);
  let isOver = false;
  const answering = until(() => (held.splice(0).forEach((go) => go()), isOver));
  await until(counts, ({ of }) => of('completed') === 16);
  isOver = true;
  await answering;
  await worker.stop();
  await expectSound(service);
  await service.stop();
});

test('a server that hears one at a time → it has one, and one more is ready', async () => {
  const env = { WORKER_CONCURRENCY: '1', OPENAI_MAX_REQUESTS: '1' };
  const { service, held, counts, uploads, areProcessing } = await begin(env);
  for (let account = 0; account < 2; account += 1) await uploads(await makeAccount(service.db), 3);
  const worker = await service.work();
  for (let done = 0; done < 6; done += 1) {
    await until(() => held.length > 0);
    await areProcessing(done === 0 || done === 5 ? 1 : 2);
    expect(held).toHaveLength(1);
    held.shift()!();
    await until(counts, ({ of }) => of('completed') === done + 1);
  }
  await worker.stop();
  await expectSound(service);
  await service.stop();
});
