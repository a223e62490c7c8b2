/** What support changes takes effect in every process within a second, though keys are remembered. */
import { sql } from 'kysely';
import { markAccountDeleted, resumeAccount, setPlan, suspendAccount } from '../../../../db/accounts.ts';
import { deleteApiKeys, revokeApiKey } from '../../../../db/api-keys.ts';
import { setPlanLimits } from '../../../../db/plans.ts';
import { inTransaction } from '../../../../db/transaction.ts';
import { makeAccount, makeKey } from '../../../support/service/accounts.ts';
import { useService } from '../../../support/service/use-service.ts';
import { until } from '../../../support/until.ts';
import type { Db } from '../../../../db/database.ts';
import type { TestAccount } from '../../../support/service/accounts.ts';
import type { TestService } from '../../../support/service/service.ts';

const first = useService();
const second = useService({ beside: first });

const codeOf = async (service: TestService, key: string): Promise<string> => {
  const { status, body } = await service.get('/v1/sessions', key);
  return status === 200 ? 'admitted' : body.code;
};

const inBoth = (key: string, code: string) =>
  Promise.all(
    [first, second].map((service) => until(async () => (await codeOf(service, key)) === code, Boolean, 1_000)),
  );

test.each<[string, string, (db: Db, account: TestAccount) => Promise<unknown>]>([
  ['the key is revoked', 'unauthorized', (db, { keyId }) => revokeApiKey(db, keyId)],
  ['the key is deleted', 'unauthorized', (db, { id }) => inTransaction(db, (trx) => deleteApiKeys(trx, id))],
  ['the account is deleted', 'unauthorized', (db, { id }) => inTransaction(db, (trx) => markAccountDeleted(trx, id))],
  ['the account is suspended', 'account_suspended', (db, { id }) => suspendAccount(db, id)],
  ['the plan becomes free', 'plan_not_eligible', (db, { id }) => setPlan(db, id, 'free')],
  ['the plan loses its allowance', 'rate_limited', (db) => setPlanLimits(db, 'team', { requests_per_minute: 0 })],
])('%s → %s in both processes within a second', async (_, code, change) => {
  const account = await makeAccount(first.db, { plan: 'team' });
  await inBoth(account.key, 'admitted');
  await change(first.db, account);
  await inBoth(account.key, code);
});

test('a suspended account is resumed → admitted by both within a second', async () => {
  const account = await makeAccount(first.db);
  await suspendAccount(first.db, account.id);
  await inBoth(account.key, 'account_suspended');
  await resumeAccount(first.db, account.id);
  await inBoth(account.key, 'admitted');
});

test('a key is issued after it was tried → admitted at once', async () => {
  const { id } = await makeAccount(first.db);
  const { key } = await makeKey(first.db, id);
  expect(await codeOf(second, key)).toBe('admitted');
});

test('a key that expires while it is remembered → refused from then on', async () => {
  const { id } = await makeAccount(first.db);
  const { key } = await makeKey(first.db, id, { expiresAt: new Date(Date.now() + 1_500).toISOString() });
  await inBoth(key, 'admitted');
  const ms = await until(async () => (await codeOf(first, key)) === 'unauthorized', Boolean, 3_000);
  expect(ms).toBeGreaterThan(500);
  expect(await codeOf(second, key)).toBe('unauthorized');
});

describe('the change counter', () => {
  // Without the trigger only a process that does not use its memory notices a revocation.
  beforeAll(() => sql`alter table api_keys disable trigger user`.execute(first.db));
  afterAll(() => sql`alter table api_keys enable trigger user`.execute(first.db));

  /** A revoked key that the first process still remembers. */
  async function revokedButRemembered(): Promise<string> {
    let key = '';
    await until(
      async () => {
        const account = await makeAccount(first.db);
        key = account.key;
        expect(await codeOf(first, key)).toBe('admitted');
        await revokeApiKey(first.db, account.keyId);
        return (await codeOf(first, key)) === 'admitted';
      },
      Boolean,
      2_000,
    );
    return key;
  }
  /** What was read last is trusted for 1 s. */
  const soonForgotten = (key: string) =>
    until(async () => (await codeOf(first, key)) === 'unauthorized', Boolean, 1_200);

  test('can not be read → within a second no key is used from memory, and valid ones still work', async () => {
    const key = await revokedButRemembered();
    await sql`alter table access_changes rename to access_changes_away`.execute(first.db);
    try {
      await soonForgotten(key);
      expect(await codeOf(first, (await makeAccount(first.db)).key)).toBe('admitted');
    } finally {
      await sql`alter table access_changes_away rename to access_changes`.execute(first.db);
    }
  });

  test('is locked, so that reading it hangs → within a second no key is used from memory', async () => {
    const key = await revokedButRemembered();
    await inTransaction(second.db, async (trx) => {
      await sql`lock table access_changes in access exclusive mode`.execute(trx);
      await soonForgotten(key);
    });
  });
});
