/** A worker that holds many jobs for its server, and stops or is killed: none is lost, none spends an attempt when it stops. */
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { listLedger } from '../../db/accounts/ledger.ts';
import { processesAbout } from '../rig/processes.ts';
import { startHelloServer } from '../support/models/hello-server.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { expectSound } from '../support/service/audit.ts';
import { hurryRetries, upload } from '../support/service/jobs.ts';
import { startProcess } from '../support/service/processes.ts';
import { startTestService } from '../support/service/service.ts';
import { until } from '../support/until.ts';
import { voice } from '../support/uploads/uploads.ts';
import type { TestAccount } from '../support/service/accounts.ts';

/** All of it, so that no part of it is asked for again. */
const heard = { status: 200, body: { text: 'hello', words: [{ word: 'hello', start: 0, end: 1.5 }] } };
const jobs = 64;

test.each([
  ['SIGTERM', 0],
  ['SIGKILL', 'SIGKILL'],
] as const)('%s to a worker that holds 64 jobs → all begin again, each is charged once', async (signal, end) => {
  let isOpen = false;
  const hello = await startHelloServer({
    script: async ({ path }) => {
      return path.endsWith('/transcriptions') && !isOpen ? 'never answer' : heard;
    },
  });
  const service = await startTestService({});
  const { databaseUrl: DATABASE_URL, dataDir: DATA_DIR } = service;
  const file = join(await mkdtemp(join(process.env.TEST_FOLDER!, 'many-')), 'voice.wav');
  await writeFile(file, await voice(1_500));
  const accounts: TestAccount[] = [];
  for (let i = 0; i < 4; i += 1) accounts.push(await makeAccount(service.db));
  for (const account of accounts)
    for (let i = 0; i < jobs / accounts.length; i += 1) await upload(service, account, file);

  const env = { DATABASE_URL, DATA_DIR, WORKER_CONCURRENCY: String(jobs), ...hello.env };
  const worker = await startProcess('start-worker', env);
  const rows = () => service.db.selectFrom('sessions').select(['status', 'attempt', 'attempts_left']).execute();
  const all = async (status: string) => (await rows()).every((row) => row.status === status);
  await until(() => all('processing'));
  process.kill(signal === 'SIGTERM' ? worker.pid : -worker.pid, signal);
  expect(await worker.ended).toBe(end);
  // Whoever was killed with it may need a moment to be gone.
  await until(() => processesAbout(DATA_DIR).length === 0);
  if (signal === 'SIGTERM') {
    const left = { status: 'queued', attempt: 1, attempts_left: 3 };
    expect(await rows()).toEqual(Array(jobs).fill(left));
  }

  isOpen = true;
  const again = await startProcess('start-worker', env);
  const areCompleted = async () => {
    await hurryRetries(service);
    return all('completed');
  };
  await until(areCompleted);
  const charges = (await Promise.all(accounts.map(({ id }) => listLedger(service.db, id)))).flat();
  expect(charges.filter(({ kind }) => kind === 'charge').map(({ amount_ms }) => amount_ms)).toEqual(
    Array(jobs).fill(-1_500),
  );
  expect(await again.stop()).toBe(0);
  const { rows: live } = await sql`select 1 from pgboss.job where state in ('created', 'retry', 'active')
    and name = 'transcription'`.execute(service.db);
  expect(live).toEqual([]);
  await expectSound(service);
  await service.stop();
});
