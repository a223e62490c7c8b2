/** What support changes takes effect in every process within a second, though keys are remembered. */
import { jest } from '../../../support/run/jest.ts';
import { sql } from 'kysely';
import { markAccountDeleted, setPlanLimits, suspendAccount, updateAccount } from '../../../../db/accounts/accounts.ts';
import { deleteApiKeys, revokeApiKey } from '../../../../db/accounts/api-keys.ts';
import { openDatabase } from '../../../../db/connection/database.ts';
import { inTransaction } from '../../../../db/connection/transaction.ts';
import { KeyCache } from '../../../../src/api/access/key-cache.ts';
import { makeAccount, makeKey } from '../../../support/service/accounts.ts';
import { holdTheClock } from '../../../support/faults/held-clock.ts';
import { countStatements } from '../../../support/service/counted-statements.ts';
import { useService } from '../../../support/service/use-service.ts';
import { until } from '../../../support/until.ts';
import type { Db } from '../../../../db/connection/database.ts';
import type { TestAccount } from '../../../support/service/accounts.ts';
import type { TestService } from '../../../support/service/service.ts';

// Keys are remembered by clocks that only the tests move.
beforeAll(() => holdTheClock('intervals', 'performance', 'date'));
const first = await useService();
const second = await useService({ beside: first });

const codeOf = async (service: TestService, key: string): Promise<string> => {
  const { status, body } = await service.get('/v1/sessions', key);
  return status === 200 ? 'admitted' : body.code;
};

const inBoth = (key: string) => Promise.all([first, second].map((service) => codeOf(service, key)));
const pass = (ms: number) => void jest.advanceTimersByTime(ms);

test.each<[string, string, (db: Db, account: TestAccount) => Promise<unknown>]>([
  ['the key is revoked', 'unauthorized', (db, { keyId }) => revokeApiKey(db, keyId)],
  ['the key is deleted', 'unauthorized', (db, { id }) => inTransaction(db, (trx) => deleteApiKeys(trx, id))],
  ['the account is deleted', 'unauthorized', (db, { id }) => inTransaction(db, (trx) => markAccountDeleted(trx, id))],
  ['the account is suspended', 'account_suspended', (db, { id }) => suspendAccount(db, id)],
  ['the plan becomes free', 'plan_not_eligible', (db, { id }) => updateAccount(db, id, { plan: 'free' })],
  ['the plan loses its allowance', 'rate_limited', (db) => setPlanLimits(db, 'team', { requests_per_minute: 0 })],
])('%s → %s in both processes after a second, and until then as it was', async (_, code, change) => {
  const account = await makeAccount(first.db, { plan: 'team' });
  expect(await inBoth(account.key)).toEqual(['admitted', 'admitted']);
  await change(first.db, account);
  pass(499);
  expect(await inBoth(account.key)).toEqual(['admitted', 'admitted']);
  pass(501);
  expect(await inBoth(account.key)).toEqual([code, code]);
});

test('a key is issued after it was tried → admitted at once', async () => {
  const { db } = first;
  const { id } = await makeAccount(db);
  const { key, keyId } = await makeKey(db, id);
  await db.updateTable('api_keys').set({ expires_at: '2020-01-01T00:00:00Z' }).where('id', '=', keyId).execute();
  expect(await codeOf(second, key)).toBe('unauthorized');
  await db.updateTable('api_keys').set({ expires_at: null }).where('id', '=', keyId).execute();
  expect(await codeOf(second, key)).toBe('admitted');
});

test('a key in use → read again after half a second, once, while its requests go on', async () => {
  const { key, keyId, id } = await makeAccount(first.db);
  const { db, count } = countStatements(first.db);
  const keys = new KeyCache(db);
  const ask = () => Promise.all(Array.from({ length: 50 }, async () => (await keys.ownerOf(key))?.account_id));
  const all = Array.from({ length: 50 }, () => id);
  expect(await ask()).toEqual(all);
  pass(499);
  expect(await ask()).toEqual(all);
  expect(count()).toBe(1);
  pass(1);
  expect(await ask()).toEqual(all);
  await until(() => count() === 2);
  pass(300);
  expect(await ask()).toEqual(all);
  expect(count()).toBe(2);
  await revokeApiKey(first.db, keyId);
  pass(500);
  await until(async () => (await keys.ownerOf(key)) === undefined);
  expect(count()).toBeLessThanOrEqual(4);
});

test('the machine sleeps while its steady clock stands still → what was remembered is not used', async () => {
  const { key, keyId } = await makeAccount(first.db);
  expect(await codeOf(first, key)).toBe('admitted');
  await revokeApiKey(first.db, keyId);
  expect(await codeOf(first, key)).toBe('admitted');
  const wall = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 1_000);
  try {
    expect(await codeOf(first, key)).toBe('unauthorized');
  } finally {
    wall.mockRestore();
  }
});

test('the database can not be asked → a key is used from memory for a second, and then nobody is let in', async () => {
  const { key, id } = await makeAccount(first.db);
  const { db, close } = openDatabase(first.databaseUrl, () => {});
  const keys = new KeyCache(db);
  await keys.ownerOf(key);
  await close();
  pass(999);
  for (let i = 0; i < 3; i += 1) expect(await keys.ownerOf(key)).toMatchObject({ account_id: id });
  pass(1);
  await expect(keys.ownerOf(key)).rejects.toThrow();
});

test('nobody asks → nothing is read; a key that is watched → read every 500 ms until nobody watches it', async () => {
  const { key, keyId } = await makeAccount(first.db);
  const { db, count } = countStatements(first.db);
  const keys = new KeyCache(db);
  await keys.ownerOf(key);
  pass(60_000);
  await sql`select 1`.execute(first.db);
  expect(count()).toBe(1);

  const ends = [new AbortController(), new AbortController()];
  const told: boolean[] = [];
  for (const { signal } of ends) keys.watch(key, (owner) => told.push(owner !== undefined), signal);
  pass(500);
  await until(() => told.length === 2);
  // Both by one statement.
  expect(count()).toBe(2);
  await revokeApiKey(first.db, keyId);
  ends[0]!.abort();
  pass(500);
  await until(() => told.length === 3);
  expect(told).toEqual([true, true, false]);
  ends[1]!.abort();
  pass(60_000);
  await sql`select 1`.execute(first.db);
  expect(count()).toBe(3);
});
