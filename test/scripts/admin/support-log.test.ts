/** The log of what support did, and the acts that write to it. */
import { sql } from 'kysely';
import { addToSupportLog, listSupportLog } from '../../../db/accounts/support-log.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { rotate } from '../../../scripts/admin/keys.ts';
import { whoWorks } from '../../../scripts/admin/command.ts';
import { eraseAccount } from '../../../src/sessions/account-erasure.ts';
import { makeAccount, makeKey } from '../../support/service/accounts.ts';
import { asSupport } from '../../support/service/admin.ts';
import { expectSound } from '../../support/service/audit.ts';
import { makeSession } from '../../support/service/sessions.ts';
import { useService } from '../../support/service/use-service.ts';
import { until } from '../../support/until.ts';
import { aTime, adminOf, mistaken, runAdmin } from './run-admin.ts';
import type { AdminContext } from '../../../scripts/admin/admin-context.ts';
import type { JsonObject } from './run-admin.ts';

const service = await useService();
const admin = <Result>(work: (admin: AdminContext) => Promise<Result>) =>
  asSupport({ DATABASE_URL: service.databaseUrl, DATA_DIR: service.dataDir }, work);
const logOf = async (accountId: string) =>
  (await listSupportLog(service.db, { accountId, limit: 100 })).map(({ act, details }) => [act, JSON.parse(details)]);
const statusWith = async (key: string) => (await service.get('/v1/sessions', key)).status;

test('what is typed is logged with who typed it; what changes nothing is not', async () => {
  const { id } = await makeAccount(service.db);
  const credit = ['balance', 'credit', id, '10h', '--reference', 'invoice-7', '--as', 'Alice'];
  for (let times = 0; times < 2; times++) await adminOf(service).json(...credit);
  const log = await adminOf(service).json<JsonObject[]>('log', '--account', id);
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
  await admin(({ db, record }) =>
    inTransaction(db, (trx) => record(trx, { act: 'keys issue', accountId: id, details: { keyId } })),
  );
  const erased = await eraseAccount(service, id, (trx, part) =>
    addToSupportLog(trx, 'a test', { act: 'accounts delete', accountId: id, details: part }),
  );
  expect(erased).toMatchObject({ kind: 'erased', sessions: 1 });
  expect(await logOf(id)).toEqual([
    ['accounts delete', { sessions: 0, keys: 1 }],
    ['accounts delete', { sessions: 1 }],
    ['keys issue', { keyId }],
  ]);
  await expectSound(service);
});

test('keys rotate → both secrets are taken, the old one for the grace time; the new one is like the old', async () => {
  const { id, keyId, key } = await makeAccount(service.db);
  const { json } = await admin((context) => rotate(context, { id: keyId }, { grace: 7 * 86_400_000 }));
  const { secret, ...made } = json as JsonObject & { secret: string };
  expect(made).toMatchObject({ accountId: id, scopes: ['read', 'write'], status: 'active' });
  expect(made).not.toHaveProperty('expiresAt');
  const old = made['replaces'] as { id: string; expiresAt: string };
  expect(old).toMatchObject({ id: keyId, status: 'active' });
  expect((Date.parse(old.expiresAt) - Date.now()) / 86_400_000).toBeCloseTo(7, 2);
  expect([await statusWith(key), await statusWith(secret)]).toEqual([200, 200]);
  expect(await logOf(id)).toEqual([['keys rotate', { keyId, newKeyId: made.id, endsAt: old.expiresAt }]]);
});

test('keys rotate with a grace time that is over → the old secret is refused like a revoked one, the new one taken', async () => {
  const { keyId, key } = await makeAccount(service.db);
  expect(await statusWith(key)).toBe(200);
  const { json } = await admin((context) => rotate(context, { id: keyId }, { grace: 1 }));
  await until(async () => (await statusWith(key)) === 401);
  expect(await statusWith((json as { secret: string }).secret)).toBe(200);
  const again = admin((context) => rotate(context, { id: keyId }, { grace: 1 }));
  await expect(again).rejects.toThrow(/is expired: see keys issue/);
});

test('keys rotate of a key that has an end → only with an end for the new one; the old one never lives longer for it', async () => {
  const { id } = await makeAccount(service.db);
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const { keyId } = await makeKey(service.db, id, { scopes: ['read'], expiresAt });
  const grace = 7 * 86_400_000;
  const unsaid = admin((context) => rotate(context, { id: keyId }, { grace }));
  await expect(unsaid).rejects.toThrow(/ends anyway, at .*, and nothing was changed\. .* --expires 90d/);
  expect(await logOf(id)).toEqual([]);
  const { json } = await admin((context) => rotate(context, { id: keyId }, { grace, expires: 90 * 86_400_000 }));
  const { scopes, expiresAt: end, replaces } = json as { scopes: string[]; expiresAt: string; replaces: JsonObject };
  expect(scopes).toEqual(['read']);
  expect((Date.parse(end) - Date.now()) / 86_400_000).toBeCloseTo(90, 2);
  expect(Date.parse(String(replaces['expiresAt']))).toBe(Date.parse(expiresAt));
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
