/** How many jobs a worker holds, and what a disk has to do with it. */
import { writeFile } from 'node:fs/promises';
import { workerSlots } from '../../../src/worker/worker.ts';
import { DiskBudget } from '../../../src/worker/disk-budget.ts';
import { reserveDisk } from '../../../src/worker/attempt.ts';
import { startHelloServer } from '../../support/models/hello-server.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { expectSound } from '../../support/service/audit.ts';
import { upload } from '../../support/service/jobs.ts';
import { startTestService } from '../../support/service/service.ts';
import { useService } from '../../support/service/use-service.ts';
import { until } from '../../support/until.ts';
import { voice } from '../../support/uploads/uploads.ts';
import { useFolder } from '../../support/use-folder.ts';
import type { WorkFolder } from '../../../src/files/work-folder.ts';
import type { QueuedJob } from '../../../src/queue/jobs.ts';
import type { Recognizer } from '../../../src/recognizers/recognizer.ts';
import type { Fault } from '../../../src/worker/worker-pause.ts';
import type { WorkerContext } from '../../../src/worker/worker-context.ts';
import type { WorkerPause } from '../../../src/worker/worker-pause.ts';

const gib = 1024 ** 3;
const file = `${useFolder()}/voice.wav`;
await writeFile(file, await voice(1_500));
const service = await useService();
const config = { ...service.config, workerConcurrency: 2 };
const roomOn = (freeBytes: number) =>
  new DiskBudget({ freeBytes: async () => freeBytes, writtenBytes: async () => 0 } as unknown as WorkFolder);
const hearing = (jobsAtOnce?: number) =>
  (jobsAtOnce === undefined ? {} : { jobsAtOnce: () => jobsAtOnce }) as unknown as Recognizer;
const slotsOf = (recognizer: Recognizer, diskBudget: DiskBudget, fault?: Fault) =>
  workerSlots({ config, recognizer, diskBudget, pause: { fault } as WorkerPause });

test('a worker that waits for the operator → none', async () => {
  const fault = { reason: 'store', message: 'away' } as const;
  const placesNow = slotsOf(hearing(81), roomOn(100 * gib), fault);
  expect(await placesNow(0)).toBe(0);
});

test.each([
  ['a recognizer of this machine', undefined, 0, 100, 2],
  ['a server of 64', 81, 0, 100, 81],
  ['a server of 64, 50 run', 81, 50, 100, 31],
  ['a server of 64, room for 12 more', 81, 50, 12.5, 12],
  ['a server of 64, a disk that is nearly full', 81, 50, 0.5, 0],
  ['a server that became slow', 5, 50, 100, 0],
])('two cores, %s: %p useful, %i run, %d GiB left → %i free places', async (_, useful, running, left, free) => {
  const placesNow = slotsOf(hearing(useful), roomOn(left * gib));
  expect(Math.max(0, (await placesNow(running)) - running)).toBe(free);
});

test.each([
  [0, 'begins', 0],
  [1, 'begins', 0],
  [2, 'comes again after a while', 60],
])('a full disk, %i other jobs on two cores → %s', async (others, how, seconds) => {
  const account = await makeAccount(service.db);
  const { sessionId, jobId } = await upload(service, account, file);
  const diskBudget = roomOn(1_000 + others * 1_000);
  for (let other = 0; other < others; other += 1) await diskBudget.take(1_000);
  const begun: string[] = [];
  const pause = { begin: ({ reason }: { reason: string }) => begun.push(reason) };
  const worker = { ...service, config, diskBudget, pause } as unknown as WorkerContext;
  const data = { accountId: account.id, sessionId };
  expect(await reserveDisk({ id: jobId, data } as QueuedJob, worker)).toEqual({ retryAfterSeconds: seconds });
  expect(begun).toEqual(how === 'begins' ? ['disk'] : []);
});

test('a server that hears one at a time → it has one, and one more is ready', async () => {
  const held: (() => void)[] = [];
  const hello = await startHelloServer({
    script: async ({ path }) => {
      if (path.endsWith('/transcriptions')) await new Promise<void>((go) => held.push(go));
      return { status: 200, body: { text: 'hello', words: [{ word: 'hello', start: 0, end: 1.5 }] } };
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
