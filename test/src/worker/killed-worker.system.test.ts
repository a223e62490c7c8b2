/** SIGKILL of one of three workers: its job comes again where it was, in turn with those of others. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { listLedger } from '../../../db/accounts/ledger.ts';
import { startHelloServer } from '../../support/models/hello-server.ts';
import { ScriptedRecognizer, gate, says } from '../../support/models/scripted-recognizer.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { expectSound } from '../../support/service/audit.ts';
import { final, hurryRetries, jobsOf, row, upload } from '../../support/service/jobs.ts';
import { startProcess } from '../../support/service/processes.ts';
import { useService } from '../../support/service/use-service.ts';
import { voice } from '../../support/uploads/uploads.ts';
import { until } from '../../support/until.ts';
import { useFolder } from '../../support/use-folder.ts';

const env = { WORKER_CONCURRENCY: '1' };
const service = await useService({ env });
const second = await useService({ env, beside: service });
const file = join(useFolder(), 'voice.wav');
await writeFile(file, await voice(1_000));
/** Never answers: the killed worker waits for it. */
const server = await startHelloServer({ held: true });

test('a worker is killed with SIGKILL, two go on → its job is the next, then that of another account, each heard and charged once', async () => {
  const account = () => makeAccount(service.db, { limits: { running_jobs: 16 } });
  const [heavy, light] = [await account(), await account()];
  const uploads = async (account: typeof heavy, count: number) => {
    const ids: string[] = [];
    for (let i = 0; i < count; i += 1) ids.push((await upload(service, account, file)).sessionId);
    return ids;
  };
  const { databaseUrl, dataDir } = service;
  const doomed = await startProcess('start-worker', {
    ...env,
    ...server.env,
    DATABASE_URL: databaseUrl,
    DATA_DIR: dataDir,
  });
  const [first] = await uploads(heavy, 1);
  await until(async () => (await row(service, heavy, first!)).status === 'processing');
  const busy = gate();
  const recognizer = new ScriptedRecognizer(async ({ options }) => {
    await busy.passed(options.signal);
    return says('in turn');
  });
  const workers = [await service.work(recognizer), await second.work(recognizer)];
  process.kill(-doomed.pid, 'SIGKILL');
  const others = await uploads(heavy, 5);
  await until(() => recognizer.running(heavy.id) === 2);
  const [ours] = await uploads(light, 1);
  // Heartbeats were missed.
  await until(async () => (await jobsOf(service, first!)).some(({ state }) => state === 'retry'));
  await hurryRetries(service);
  busy.open();
  expect(await final(service, light, ours!)).toMatchObject({ status: 'completed' });
  for (const id of [first!, ...others]) expect(await final(service, heavy, id)).toMatchObject({ status: 'completed' });
  const heard = recognizer.calls.map(({ sessionId }) => sessionId);
  expect(heard).toHaveLength(7);
  expect(heard.slice(0, 2).toSorted()).toEqual(others.slice(0, 2).toSorted());
  // Either worker may be a job ahead of the other.
  for (const id of [first!, ours!]) expect(heard.indexOf(id)).toBeLessThan(5);
  const charges = async ({ id }: typeof heavy) =>
    (await listLedger(service.db, id)).filter(({ kind }) => kind === 'charge').map(({ amount_ms }) => amount_ms);
  expect(await Promise.all([heavy, light].map(charges))).toEqual([Array(6).fill(-1_000), [-1_000]]);
  await Promise.all(workers.map((worker) => worker.stop()));
  await expectSound(service);
});
