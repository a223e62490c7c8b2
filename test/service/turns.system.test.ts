/** Accounts take turns also when a worker is killed: its job comes again where it stood, and each is charged once. */
import { writeFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { listLedger } from '../../db/accounts/ledger.ts';
import { startHelloServer } from '../support/models/hello-server.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { expectSound } from '../support/service/audit.ts';
import { upload } from '../support/service/jobs.ts';
import { startProcess } from '../support/service/processes.ts';
import { useService } from '../support/service/use-service.ts';
import { until } from '../support/until.ts';
import { useFolder } from '../support/use-folder.ts';
import { voice } from '../support/uploads/uploads.ts';
import type { TestAccount } from '../support/service/accounts.ts';

const service = await useService();
const file = `${useFolder()}/voice.wav`;
const durationMs = 1_500;
await writeFile(file, await voice(durationMs));
/** All of it, so that no part of it is asked for again. */
const heard = { status: 200, body: { text: 'hello', words: [{ word: 'hello', start: 0, end: 1.5 }] } };

/**
 * A process with one place, and one more once its server has answered: two jobs may begin together then. Whatever it asks
 * of its server is held until the test lets it go.
 */
async function startWorker() {
  const held: (() => void)[] = [];
  const { env } = await startHelloServer({
    script: async ({ path }) => {
      if (!path.endsWith('/transcriptions')) return undefined;
      await new Promise<void>((go) => held.push(go));
      return heard;
    },
  });
  const { databaseUrl: DATABASE_URL, dataDir: DATA_DIR } = service;
  const worker = await startProcess('start-worker', {
    DATABASE_URL,
    DATA_DIR,
    WORKER_CONCURRENCY: '1',
    OPENAI_MAX_REQUESTS: '1',
    ...env,
  });
  const holds = () => until(() => held.length === 1);
  return { ...worker, holds, go: () => held.shift()!() };
}

const uploads = async (account: TestAccount, count: number) => {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) ids.push((await upload(service, account, file)).sessionId);
  return ids;
};
const sessions = (accounts: TestAccount[]) =>
  service.db
    .selectFrom('sessions')
    .select(['id', 'status'])
    .where(
      'account_id',
      'in',
      accounts.map(({ id }) => id),
    ) // prettier-ignore
    .orderBy('started_at')
    .execute();
/** The session whose job a dead worker left, once others may take it. */
const leftBehind = async () => {
  const { rows } = await sql<{ id: string }>`select data->>'sessionId' as id from pgboss.job
    where name = 'transcription' and state = 'retry' and start_after <= now()`.execute(service.db);
  return rows[0]?.id;
};

test.each([1, 2])(
  'one of %i workers is killed while two accounts wait → its job is next, the order is kept, each is charged once',
  async (count) => {
    const [heavy, light] = [await makeAccount(service.db), await makeAccount(service.db)];
    const [first, second, third, fourth] = await uploads(heavy, 4);
    const workers = await Promise.all(Array.from({ length: count }, startWorker));
    await Promise.all(workers.map(({ holds }) => holds()));
    const [lightFirst, lightSecond] = await uploads(light, 2);

    const killed = workers.shift()!;
    process.kill(-killed.pid, 'SIGKILL');
    expect(await killed.ended).toBe('SIGKILL');
    workers.push(await startWorker());
    await workers.at(-1)!.holds();
    const left = (await until(leftBehind))!;

    const all = [heavy, light];
    for (let done = 0; done < 6; done += 1) {
      const worker = workers[done % count]!;
      // What it took as the last one may not have reached its server yet.
      await worker.holds();
      worker.go();
      const now = await until(
        () => sessions(all),
        (rows) => rows.filter(({ status }) => status === 'completed').length > done,
      );
      if (now.some(({ status }) => status === 'queued')) await worker.holds();
    }
    const others = [first, second].filter((id) => id !== left);
    const began = (await sessions(all)).map(({ id }) => id);
    const together = count === 1 ? [1, 2, 1, 1, 1] : [1, 1, 2, 2];
    expect(together.map((jobs) => new Set(began.splice(0, jobs)))).toEqual(
      (count === 1
        ? [[lightFirst], [left, second], [lightSecond], [third], [fourth]]
        : [others, [lightFirst], [left, third], [lightSecond, fourth]]
      ).map((jobs) => new Set(jobs)),
    );
    const charged = async ({ id }: TestAccount) =>
      (await listLedger(service.db, id)).filter(({ kind }) => kind === 'charge').map(({ amount_ms }) => amount_ms);
    expect(await Promise.all(all.map(charged))).toEqual([Array(4).fill(-durationMs), Array(2).fill(-durationMs)]);
    await expectSound(service);
    for (const worker of workers) expect(await worker.stop()).toBe(0);
  },
);
