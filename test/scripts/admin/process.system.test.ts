/** `npm run admin` as the process that it is for people. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { adminCommand } from '../../../scripts/admin/program.ts';
import { projectFolder } from '../../architecture/source-files.ts';
import { canMountDisks, smallDisk } from '../../support/faults/small-disk.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { lockWaits } from '../../support/service/lock-waits.ts';
import { useService } from '../../support/service/use-service.ts';
import { until } from '../../support/until.ts';
import { useFolder } from '../../support/use-folder.ts';
import { startCommand } from '../run-command.ts';
import { readByNobody, startScript } from '../run-script.ts';
import { aTime, anId, environmentOf, mistaken, refused, runAdminProcess } from './run-admin.ts';

const service = await useService();
const folder = useFolder();
const run = (...args: string[]) => runAdminProcess(args, environmentOf(service));

test('answers on standard output, notes on standard error, secrets from standard input; exit 0, 1 and 2', async () => {
  const { id, key, keyId } = await makeAccount(service.db, { plan: 'free' });
  expect(await run('keys', 'issue', id, '--scope', 'read')).toEqual({
    ...{
      code: 0,
      stdout: expect.stringMatching(
        /^[^]*tsk_\w{38}\n[^]*\n\nThe secret is shown this once and not stored((?!tsk_)[^])*$/,
      ),
    },
    stderr: expect.stringMatching(/^.*plan of this account may not use the API.*\n$/),
  });
  const { code, stdout } = await runAdminProcess(['keys', 'revoke', '-', '--json'], environmentOf(service), `${key}\n`);
  expect({ code, id: JSON.parse(stdout).id }).toEqual({ code: 0, id: keyId });
  const unknown = '0198c0de-0000-7000-8000-000000000000';
  expect(await run('accounts', 'show', unknown)).toEqual(refused(/^There is no account/));
  expect(await run('accounts', 'show', 'acme')).toEqual(mistaken(/'acme' is invalid/));
});

const unread = (...args: string[]) =>
  startScript(['scripts/admin/main.ts', ...args], environmentOf(service), readByNobody).ended;

test('nobody reads the answer (| head), however long it is → its exit code all the same, without a word', async () => {
  const { id } = await makeAccount(service.db);
  await sql`update accounts set balance_ms = balance_ms + 1 where id = ${id}`.execute(service.db);
  expect(await unread('verify')).toMatchObject({ code: 1, stderr: '' });
  await sql`insert into ledger (account_id, id, kind, amount_ms, session_id, created_at)
    select ${id}, gen_random_uuid(), 'charge', -1000, gen_random_uuid(), timestamptz '2026-11-05 00:00Z'
    from generate_series(1, 2500)`.execute(service.db);
  expect(await unread('usage', id, '--month', '2026-11')).toMatchObject({ code: 0, stderr: '' });
});

const finishing = 'Finishing what has begun; press Ctrl-C again to stop at once.\n';

/** Runs `work` while a credit of the account waits for the row. */
async function whileItWaits(accountId: string, work: () => Promise<void>): Promise<void> {
  await service.db.transaction().execute(async (trx) => {
    await sql`select from accounts where id = ${accountId} for update`.execute(trx);
    await until(async () => (await lockWaits(service.db)).length > 0);
    await work();
  });
}

test.each(['SIGINT', 'SIGTERM'] as const)('%s → what has begun is finished and answered', async (signal) => {
  const { id } = await makeAccount(service.db, { balanceMs: 0 });
  const args = ['scripts/admin/main.ts', 'balance', 'credit', id, '1h', '--json'];
  const running = startScript(args, environmentOf(service));
  await whileItWaits(id, async () => {
    running.kill(signal);
    await running.says(finishing);
  });
  const { code, stdout, stderr } = await running.ended;
  expect({ code, stderr, answer: JSON.parse(stdout) }).toEqual({
    ...{ code: 0, stderr: finishing },
    answer: expect.objectContaining({ id, balanceMs: 3_600_000 }),
  });
});

test('Ctrl-C a second time → it stops at once, and nothing is changed', async () => {
  const { id } = await makeAccount(service.db, { balanceMs: 0 });
  const running = startScript(['scripts/admin/main.ts', 'balance', 'credit', id, '1h'], environmentOf(service));
  await whileItWaits(id, async () => {
    running.kill('SIGINT');
    await running.says(finishing);
    // Within half a second it would count as the same press, which npm has handed on.
    const pressing = setInterval(() => running.kill('SIGINT'), 100);
    expect(await running.ended).toEqual({ code: 130, stdout: '', stderr: finishing });
    clearInterval(pressing);
  });
  await until(async () => (await lockWaits(service.db)).length === 0);
  const rows = await sql`select from ledger where account_id = ${id}`.execute(service.db);
  expect(rows.rows).toEqual([]);
});

test('Ctrl-C before anything was done → says so, exit 130', async () => {
  const running = startCommand(adminCommand, ['plans', 'list'], { env: environmentOf(service) });
  running.interrupt();
  expect(await running.ended).toEqual({
    ...{ code: 130, stdout: '' },
    stderr: `${finishing}Interrupted: nothing was changed.\n`,
  });
});

test('where no service runs and no database is → makes one, says so, answers, and leaves nothing running', async () => {
  const dataDir = join(folder, 'data');
  const env = { DATA_DIR: dataDir };
  const made = await runAdminProcess(['accounts', 'create', '--name', 'Acme', '--plan', 'pro', '--json'], env);
  expect(made).toMatchObject({ code: 0, stderr: expect.stringMatching(/^making a database in /) });
  const created = JSON.parse(made.stdout) as { id: string };
  expect(created).toMatchObject({ id: anId, createdAt: aTime });

  // With a queue that has never run before.
  const erased = await runAdminProcess(['accounts', 'delete', created.id], env);
  expect(erased).toEqual({ code: 0, stderr: '', stdout: expect.stringMatching(/is erased/) });
  expect(await readdir(join(dataDir, 'postgres', 'data'))).not.toContain('postmaster.pid');
});

const create = `"${process.execPath}" scripts/admin/main.ts accounts create --name A --plan pro`;
/** dd fails where the disk ends; the second one fills the rest of its last page. */
const fill = 'for size in 64k 1; do dd if=/dev/zero bs=$size of="$DATA_DIR/$size" count=8192 2>/dev/null; done';

test.each([
  ['to be made', '8m', create],
  ['that is there', '120m', `${create} >/dev/null && { ${fill}; ${create}; }`],
])('a database %s finds no room → one sentence that names the page, exit code 1', async (_, size, script) => {
  if (!canMountDisks()) return;
  const dataDir = await mkdtemp(join(process.env.TEST_FOLDER!, 'full-'));
  const [program, ...args] = [...smallDisk(dataDir, size), 'sh', '-c', script];
  const env = { PATH: process.env.PATH, DATA_DIR: dataDir };
  const { status, stdout, stderr } = spawnSync(program!, args, { cwd: projectFolder, env, encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr.trim().split('\n').slice(1)).toEqual([
    'The disk of the database is full. Make room there first: scripts/deploy/OPERATIONS.md says how.',
  ]);
});
