/** SIGKILL in the middle of jobs. What was accepted is completed after the next start, and charged once. */
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openDatabase } from '../../db/connection/database.ts';
import { joinEmbeddedPostgres } from '../../db/embedded/embedded-postgres.ts';
import { listLedger } from '../../db/accounts/ledger.ts';
import { processesAbout } from '../rig/processes.ts';
import { clientOf } from '../support/clients/client.ts';
import { startHelloServer } from '../support/models/hello-server.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { expectSound } from '../support/service/audit.ts';
import { startProcess } from '../support/service/processes.ts';
import { until } from '../support/until.ts';
import { voice } from '../support/uploads/uploads.ts';
import { useFolder } from '../support/use-folder.ts';

test('kill -9 of the service and its PostgreSQL → the next start just works, nothing accepted is lost', async () => {
  const dataDir = await mkdtemp(join(process.env.TEST_FOLDER!, 'killed-'));
  const file = join(useFolder(), 'voice.wav');
  await writeFile(file, await voice(2_000));
  const hello = await startHelloServer({ held: true });
  const env = { DATA_DIR: dataDir, WORKER_CONCURRENCY: '2', ...hello.env };
  const service = await startProcess('start', env);
  // Joined like the admin command, and left before the kill.
  const admin = await joinEmbeddedPostgres({ folder: join(dataDir, 'postgres') });
  const { db, close } = openDatabase(admin.url, () => {});
  const account = await makeAccount(db, { balanceMs: 60_000 });
  const client = clientOf(service.url, account.key);
  const ids = [await client.accepted(file), await client.accepted(file)];
  const running = () => db.selectFrom('sessions').select('id').where('status', '=', 'processing').execute();
  await until(running, ({ length }) => length === 2);
  await Promise.all([close(), admin.leave()]);
  const [postmaster] = (await readFile(join(dataDir, 'postgres/data/postmaster.pid'), 'utf8')).split('\n');
  for (const pid of [-service.pid, Number(postmaster)]) process.kill(pid, 'SIGKILL');
  expect(await service.ended).toBe('SIGKILL');
  await until(
    () => processesAbout(dataDir),
    (pids) => pids.length === 0,
  );

  hello.go();
  const again = await startProcess('start', env);
  for (const id of ids) expect(await clientOf(again.url, account.key).final(id)).toMatchObject({ status: 'completed' });
  const after = openDatabase(admin.url, () => {});
  expect((await listLedger(after.db, account.id)).map((entry) => entry.amount_ms)).toEqual([60_000, -2_000, -2_000]);
  await expectSound({ db: after.db, dataDir }).finally(after.close);
  expect(await again.stop()).toBe(0);
});
