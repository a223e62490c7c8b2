/** The log of what support did. */
import { sql } from 'kysely';
import { addToSupportLog } from '../../../db/accounts/support-log.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { whoWorks } from '../../../scripts/admin/command.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { expectSound } from '../../support/service/audit.ts';
import { makeSession } from '../../support/service/sessions.ts';
import { useService } from '../../support/service/use-service.ts';
import { aTime, adminOf, mistaken, runAdmin } from './run-admin.ts';
import type { JsonObject } from './run-admin.ts';

const service = await useService();
const admin = adminOf(service);
const logOf = (accountId: string) => admin.json<JsonObject[]>('log', '--account', accountId);

test('what is typed is logged with who typed it; what changes nothing is not', async () => {
  const { id } = await makeAccount(service.db);
  const credit = ['balance', 'credit', id, '10h', '--reference', 'invoice-7', '--as', 'Alice'];
  for (let times = 0; times < 2; times++) await admin.json(...credit);
  const log = await logOf(id);
  expect(log).toEqual([
    {
      ...{ id: expect.any(Number), at: aTime, who: expect.stringMatching(/^Alice \(.+\)$/), act: 'balance credit' },
      ...{ accountId: id, details: { amountMs: 36_000_000 } },
    },
  ]);
  expect(JSON.stringify(log)).not.toContain('invoice');
});

test.each([
  ['update support_log set who = who'],
  ['delete from support_log'],
  ['truncate support_log'],
  [`insert into support_log values (999, now(), 'a', 'b', null, '"tsk_0123456789abc"')`],
])('%s → refused', async (statement) => {
  await inTransaction(service.db, (trx) => addToSupportLog(trx, 'a test', { act: 'backup' }));
  await expect(sql.raw(statement).execute(service.db)).rejects.toThrow(/append-only|check constraint/);
});

test('many at once, some of them rolled back → no gap', async () => {
  const acts = Array.from({ length: 12 }, (_, index) =>
    inTransaction(service.db, async (trx) => {
      await addToSupportLog(trx, 'a test', { act: 'backup' });
      if (index % 3 === 0) throw new Error('changed its mind');
    }).catch(() => {}),
  );
  await Promise.all(acts);
  await expectSound(service);
});

test('an account with entries → erased all the same, each part of it logged, its entries left without words', async () => {
  const { id, keyId } = await makeAccount(service.db);
  await makeSession(service.db, id, { status: 'completed', title: 'Merger with Acme' });
  await admin.json('keys', 'revoke', keyId);
  await admin.json('accounts', 'delete', id);
  expect((await logOf(id)).map(({ act, details }) => [act, details])).toEqual([
    ['accounts delete', { erasedSessions: 0, erasedKeys: 1 }],
    ['accounts delete', { erasedSessions: 1 }],
    ['keys revoke', { keyId }],
  ]);
  await expectSound(service);
});

test('who works: --as before ADMIN_AS before the user of the system, who is always named', () => {
  const user = whoWorks(undefined, {});
  expect(whoWorks('Alice', { ADMIN_AS: 'Bob' })).toBe(`Alice (${user})`);
  expect(whoWorks(undefined, { ADMIN_AS: 'Bob' })).toBe(`Bob (${user})`);
  expect(() => whoWorks(undefined, { ADMIN_AS: 'a\nb' })).toThrow(/ADMIN_AS is no name/);
});

test('restore with an ADMIN_AS that is no name → a mistake, before the backup is looked at', async () => {
  const end = await runAdmin(['restore', '--from', '/nowhere'], { DATA_DIR: service.dataDir, ADMIN_AS: 'a\nb' });
  expect(end).toEqual(mistaken(/ADMIN_AS is no name/));
});
