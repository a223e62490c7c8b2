/** What a request asks for is read while it is counted: seen by holding one of the two back. */
import { sql } from 'kysely';
import { inTransaction } from '../../../../db/connection/transaction.ts';
import { makeAccount } from '../../../support/service/accounts.ts';
import { lockWaits } from '../../../support/service/lock-waits.ts';
import { queueSession } from '../../../support/service/sessions.ts';
import { useService } from '../../../support/service/use-service.ts';
import { withinAMinute } from '../../../support/service/within-a-minute.ts';
import { expectNothingLeft, tone, traces } from '../../../support/uploads/uploads.ts';
import { until } from '../../../support/until.ts';
import type { Trx } from '../../../../db/connection/database.ts';
import type { TestAccount } from '../../../support/service/accounts.ts';

const service = await useService();

/** As if so many requests had been counted in this window. */
const useUp = (trx: Trx, { id }: TestAccount, used: number) =>
  sql`insert into allowance (account_id, window_number, used)
    values (${id}, floor(extract(epoch from clock_timestamp()) / 60), ${used})
    on conflict (account_id) do update set window_number = excluded.window_number, used = excluded.used`.execute(trx);

const lockSessions = (trx: Trx) => sql`lock table sessions in access exclusive mode`.execute(trx);

test.each([
  ['what it asks for', 'sessions', 200],
  ['something that is not there', 'sessions/01a1f89b-f1a2-7605-ae51-71a046f5ee3c', 404],
  ['nothing, since it is wrong', 'sessions?limit=0', 400],
])('a request for %s whose count is held back → no answer until it is counted, then as it was', (_, path, status) =>
  withinAMinute(service, async () => {
    const account = await makeAccount(service.db, { limits: { requests_per_minute: 100 } });
    await queueSession(service.db, account.id, { title: 'a secret title' });
    await service.get('/v1/sessions', account.key).expect(200);
    for (const [used, expected] of [
      [1, status],
      [100, 429],
    ] as const) {
      let isAnswered = false;
      const { asked } = await inTransaction(service.db, async (trx) => {
        await useUp(trx, account, used);
        const answer = service.get(`/v1/${path}`, account.key).then((response) => {
          isAnswered = true;
          return response;
        });
        await until(async () => (await lockWaits(trx)).length === 1);
        // What it reads has long been read when others were answered.
        const other = await makeAccount(service.db);
        for (let i = 0; i < 3; i += 1) await service.get('/v1/sessions', other.key).expect(200);
        expect(isAnswered).toBe(false);
        return { asked: answer };
      });
      const { status: answered, text, headers } = await asked;
      expect(answered).toBe(expected);
      expect(headers.ratelimit).toMatch(/^"plan";r=\d+;t=\d+$/);
      if (expected === 429) expect(text).not.toContain('secret');
    }
  })(),
);

test('an upload whose count is held back, and refuses it → nothing of it is taken meanwhile', () =>
  withinAMinute(service, async () => {
    const [account, other] = [await makeAccount(service.db), await makeAccount(service.db)];
    const before = await traces(service, account);
    const audio = await tone(300);
    const send = ({ key }: TestAccount) => service.post('/v1/transcriptions', key).attach('file', audio, 'a.wav');
    const { asked } = await inTransaction(service.db, async (trx) => {
      await useUp(trx, account, 1_000_000);
      const answer = send(account).then(({ status }) => status);
      await until(async () => (await lockWaits(trx)).length === 1);
      for (let i = 0; i < 3; i += 1) await send(other).expect(202);
      await expectNothingLeft(service, account, before);
      return { asked: answer };
    });
    expect(await asked).toBe(429);
    await expectNothingLeft(service, account, before);
  })());

test('reads that wait, of more requests than the pool has connections → few connections wait, and others are answered', () =>
  withinAMinute(service, async () => {
    const accounts = await Promise.all(Array.from({ length: 30 }, () => makeAccount(service.db)));
    const ids = accounts.map(({ id }) => id);
    const { answers } = await inTransaction(service.db, async (trx) => {
      await lockSessions(trx);
      const began = performance.now();
      const asked = accounts.map(({ key }) => service.get('/v1/sessions', key).then(({ status }) => status));
      const counted = sql<{ n: number }>`select count(*) as n from allowance where account_id = any(${ids})`;
      await until(async () => (await counted.execute(trx)).rows[0]!.n === 30);
      // These are counted, too, which takes a connection.
      for (const { key } of accounts.slice(0, 12)) await service.get('/v1/sessions?limit=0', key).expect(400);
      // A connection that waits for a second gets no more statements, and another one takes its place.
      const waiting = (await lockWaits(trx)).length;
      expect(waiting).toBeLessThanOrEqual(2 + 2 * Math.floor((performance.now() - began) / 1_000));
      return { answers: Promise.all(asked) };
    });
    expect(await answers).toEqual(accounts.map(() => 200));
  })());
