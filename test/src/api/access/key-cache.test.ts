/** What support changes takes effect in every process within a second, though keys are remembered. */
import { jest } from '../../../support/run/jest.ts';
import { sql } from 'kysely';
import { readAccessVersion } from '../../../../db/access-changes.ts';
import { markAccountDeleted, resumeAccount, setPlan, suspendAccount } from '../../../../db/accounts.ts';
import { deleteApiKeys, revokeApiKey } from '../../../../db/api-keys.ts';
import { setPlanLimits } from '../../../../db/plans.ts';
import { inTransaction } from '../../../../db/transaction.ts';
import { newApiKey } from '../../../../src/api/access/api-key.ts';
import { KeyCache } from '../../../../src/api/access/key-cache.ts';
import { makeAccount, makeKey } from '../../../support/service/accounts.ts';
import { holdTheClock } from '../../../support/faults/held-clock.ts';
import { countStatements } from '../../../support/service/counted-statements.ts';
import { useService } from '../../../support/service/use-service.ts';
import { until } from '../../../support/until.ts';
import type { Db } from '../../../../db/database.ts';
import type { TestAccount } from '../../../support/service/accounts.ts';
import type { TestService } from '../../../support/service/service.ts';

// Keys are remembered, and the counter of changes is looked at, by a clock that only the tests move.
beforeAll(() => holdTheClock('intervals', 'performance'));
const first = await useService();
const second = await useService({ beside: first });

const codeOf = async (service: TestService, key: string): Promise<string> => {
  const { status, body } = await service.get('/v1/sessions', key);
  return status === 200 ? 'admitted' : body.code;
};

const inBoth = (key: string, code: string) =>
  Promise.all([first, second].map((service) => until(async () => (await codeOf(service, key)) === code)));

/** Every process looks at the counter once in this time. */
const look = () => void jest.advanceTimersByTime(500);

test.each<[string, string, (db: Db, account: TestAccount) => Promise<unknown>]>([
  ['the key is revoked', 'unauthorized', (db, { keyId }) => revokeApiKey(db, keyId)],
  ['the key is deleted', 'unauthorized', (db, { id }) => inTransaction(db, (trx) => deleteApiKeys(trx, id))],
  ['the account is deleted', 'unauthorized', (db, { id }) => inTransaction(db, (trx) => markAccountDeleted(trx, id))],
  ['the account is suspended', 'account_suspended', (db, { id }) => suspendAccount(db, id)],
  ['the plan becomes free', 'plan_not_eligible', (db, { id }) => setPlan(db, id, 'free')],
  ['the plan loses its allowance', 'rate_limited', (db) => setPlanLimits(db, 'team', { requests_per_minute: 0 })],
])('%s → %s in both processes as soon as they look, every 500 ms', async (_, code, change) => {
  const account = await makeAccount(first.db, { plan: 'team' });
  look();
  await inBoth(account.key, 'admitted');
  await change(first.db, account);
  look();
  await inBoth(account.key, code);
});

test('a suspended account is resumed → admitted by both as soon as they look', async () => {
  const account = await makeAccount(first.db);
  await suspendAccount(first.db, account.id);
  look();
  await inBoth(account.key, 'account_suspended');
  await resumeAccount(first.db, account.id);
  look();
  await inBoth(account.key, 'admitted');
});

test('a key is issued after it was tried → admitted at once', async () => {
  const { id } = await makeAccount(first.db);
  const { key } = await makeKey(first.db, id);
  expect(await codeOf(second, key)).toBe('admitted');
});

describe('without the trigger that counts changes', () => {
  // Only a process that does not use its memory notices.
  beforeAll(() => sql`alter table api_keys disable trigger user`.execute(first.db));
  afterAll(() => sql`alter table api_keys enable trigger user`.execute(first.db));

  /** Keys of one account that the first process remembers as valid, and that are valid no longer. */
  async function rememberedWrongly(...kinds: { expiresAt?: string }[]): Promise<string[]> {
    return until(async () => {
      look();
      const { id } = await makeAccount(first.db);
      const made = await Promise.all(kinds.map((kind) => makeKey(first.db, id, kind)));
      const keys = made.map(({ key }) => key);
      for (const key of keys) expect(await codeOf(first, key)).toBe('admitted');
      for (const { keyId } of made) await revokeApiKey(first.db, keyId);
      const codes = await Promise.all(keys.map((key) => codeOf(first, key)));
      return codes.every((code) => code === 'admitted') ? keys : undefined;
    }) as Promise<string[]>;
  }
  /** What was read last is trusted for 1 s. */
  const passASecond = () => void jest.advanceTimersByTime(1_000);

  test('a remembered key comes to its end → admitted until then and refused afterwards, though the counter can be read', async () => {
    const inTwoHours = new Date(Date.now() + 7_200_000).toISOString();
    const [ending, endless] = (await rememberedWrongly({ expiresAt: inTwoHours }, {})) as [string, string];
    const passAnHour = async () => {
      jest.advanceTimersByTime(3_600_000);
      // Only from memory: this key was revoked, too. Memory is used as long as the counter is read.
      await until(async () => {
        look();
        return (await codeOf(first, endless)) === 'admitted';
      });
    };
    await passAnHour();
    expect(await codeOf(first, ending)).toBe('admitted');
    await passAnHour();
    expect(await codeOf(first, ending)).toBe('unauthorized');
    expect(await codeOf(first, endless)).toBe('admitted');
  });

  test('the machine sleeps past the end of a remembered key, while its steady clock stands still → refused afterwards', async () => {
    const inTwoHours = new Date(Date.now() + 7_200_000).toISOString();
    const [ending, endless] = (await rememberedWrongly({ expiresAt: inTwoHours }, {})) as [string, string];
    const awake = Date.now();
    const wall = jest.spyOn(Date, 'now').mockImplementation(() => awake + 7_200_000);
    try {
      // Nothing that was read before is trusted. Once the counter has been read again, memory is.
      expect(await codeOf(first, ending)).toBe('unauthorized');
      await until(async () => {
        look();
        return (await codeOf(first, endless)) === 'admitted';
      });
      expect(await codeOf(first, ending)).toBe('unauthorized');
    } finally {
      wall.mockRestore();
    }
  });

  test('the counter can not be read → within a second no key is used from memory, and valid ones still work', async () => {
    const [key] = (await rememberedWrongly({})) as [string];
    await sql`alter table access_changes rename to access_changes_away`.execute(first.db);
    try {
      passASecond();
      expect(await codeOf(first, key)).toBe('unauthorized');
      expect(await codeOf(first, (await makeAccount(first.db)).key)).toBe('admitted');
    } finally {
      await sql`alter table access_changes_away rename to access_changes`.execute(first.db);
    }
  });

  test('the counter is locked, so that reading it hangs → within a second no key is used from memory', async () => {
    const [key] = (await rememberedWrongly({})) as [string];
    await inTransaction(second.db, async (trx) => {
      await sql`lock table access_changes in access exclusive mode`.execute(trx);
      passASecond();
      expect(await codeOf(first, key)).toBe('unauthorized');
    });
  });
});

test('nobody asks for a while → the counter is read every 10 s, and whoever asks then is judged by what is true now', async () => {
  const [{ key, keyId }, other] = [await makeAccount(first.db), await makeAccount(first.db)];
  const { db, count } = countStatements(first.db);
  const keys = new KeyCache(db);
  /** Each look has time to end. */
  const pass = async (seconds: number) => {
    for (let looks = 0; looks < 2 * seconds; looks += 1) {
      look();
      for (let asked = 0; asked < 2; asked += 1) await readAccessVersion(first.db);
    }
  };
  keys.start();
  try {
    for (const remembered of [key, other.key]) expect(await keys.ownerOf(remembered)).toBeDefined();
    await pass(11);
    const before = count();
    await pass(50);
    expect(count() - before).toBeGreaterThanOrEqual(4);
    expect(count() - before).toBeLessThanOrEqual(6);

    await pass(5);
    await revokeApiKey(first.db, keyId);
    expect(await keys.ownerOf(key)).toBeUndefined();
    // That request had the counter read again.
    await until(async () => {
      const asked = count();
      return (await keys.ownerOf(other.key)) !== undefined && count() === asked;
    });
  } finally {
    await keys.stop();
  }
});

test('many requests with a key that is not remembered, many with keys that nobody has → looked up together', async () => {
  const { key, id } = await makeAccount(first.db);
  const { db, count } = countStatements(first.db);
  const keys = new KeyCache(db);
  const owners = await Promise.all(Array.from({ length: 300 }, () => keys.ownerOf(key)));
  expect(new Set(owners.map((owner) => owner?.account_id))).toEqual(new Set([id]));
  expect(count()).toBe(1);
  const strangers = await Promise.all(Array.from({ length: 300 }, () => keys.ownerOf(newApiKey())));
  expect(strangers.filter((owner) => owner !== undefined)).toEqual([]);
  expect(count()).toBe(1 + 300 / 100);
});
