/** Requests per minute: per account, over all its keys and all processes, exact, and told truthfully. */
import { sql } from 'kysely';
import { Allowances } from '../../../../src/api/access/allowances.ts';
import { makeAccount, makeKey } from '../../../support/service/accounts.ts';
import { withinAMinute } from '../../../support/service/within-a-minute.ts';
import { useService } from '../../../support/service/use-service.ts';
import type { Response } from 'supertest';

const first = await useService();
const second = await useService({ beside: first });

function allowanceOf({ headers }: Response): { q: number; r: number; t: number } {
  const [, q] = /^"plan";q=(\d+);w=60$/.exec(String(headers['ratelimit-policy']))!;
  const [, r, t] = /^"plan";r=(\d+);t=(\d+)$/.exec(String(headers.ratelimit))!;
  return { q: Number(q), r: Number(r), t: Number(t) };
}

/** Moves the account's window into the past, as the turn of the minute does. */
const turnWindow = (accountId: string) =>
  sql`update allowance set window_number = window_number - 1 where account_id = ${accountId}`.execute(first.db);

const countedInDatabase = async (accountId: string) => {
  const row = await sql<{ used: number }>`select used from allowance where account_id = ${accountId}`.execute(first.db);
  return row.rows[0]!.used;
};

/** Seconds of the minute by the database's clock. */
async function secondOfMinute(): Promise<number> {
  const { rows } = await sql<{ s: number }>`select extract(second from clock_timestamp())::float8 as s`.execute(
    first.db,
  );
  return rows[0]!.s;
}

test(
  'requests one after another → r falls by one each, t is the end of the minute, then 429 with Retry-After',
  withinAMinute(first, async () => {
    const { key, id } = await makeAccount(first.db, { limits: { requests_per_minute: 4 } });
    for (const r of [3, 2, 1, 0]) {
      const asked = await secondOfMinute();
      const answer = allowanceOf(await first.get('/v1/sessions', key).expect(200));
      expect(answer).toMatchObject({ q: 4, r });
      // Whole seconds, of a moment between the two.
      expect(answer.t).toBeLessThanOrEqual(Math.ceil(60 - asked));
      expect(answer.t).toBeGreaterThanOrEqual(Math.floor(60 - (await secondOfMinute())));
    }
    const refused = await first.get('/v1/sessions', key).expect(429);
    const { r, t } = allowanceOf(refused);
    expect(r).toBe(0);
    expect(refused.headers['retry-after']).toBe(String(t));
    expect(refused.body).toMatchObject({
      code: 'rate_limited',
      detail: 'The allowance of 4 requests per minute is used up.',
      retryAfterSeconds: t,
    });
    expect(refused.body).not.toHaveProperty('items');

    await turnWindow(id);
    expect(allowanceOf(await first.get('/v1/sessions', key).expect(200)).r).toBe(3);
  }),
);

test(
  'answers of every status but 401 and 403 for the plan → count',
  withinAMinute(first, async () => {
    const { key, id } = await makeAccount(first.db);
    await first.get('/v1/sessions?page=1', key).expect(400);
    await first.get('/v1/sessions/01a1f89b-f1a2-7605-ae51-71a046f5ee3c', key).expect(404);
    await first
      .get('/v1/sessions/01a1f89b-f1a2-7605-ae51-71a046f5ee3c/transcript', key)
      .set('Accept', 'image/png')
      .expect(406);
    await first.request('head', '/v1/sessions', key).expect(200);
    expect(await countedInDatabase(id)).toBe(4);
    await first.get('/v1/openapi.json', key).expect(200);
    await first.get('/v1/nothing', key).expect(404);
    await first.request('put', '/v1/sessions', key).expect(405);
    expect(await countedInDatabase(id)).toBe(4);
  }),
);

test(
  '200 requests at once over two keys and two processes with an allowance of 60 → exactly 60 admitted',
  withinAMinute(first, async () => {
    const account = await makeAccount(first.db, { plan: 'pro' });
    const { key: other } = await makeKey(first.db, account.id, { scopes: ['read'] });
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, i) =>
        (i % 2 === 0 ? first : second).get('/v1/sessions', i % 4 < 2 ? account.key : other).then((answer) => answer),
      ),
    );
    const admitted = answers.filter(({ status }) => status === 200);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(140);
    const left = admitted.map((answer) => allowanceOf(answer).r).sort((a, b) => b - a);
    expect(left).toEqual(Array.from({ length: 60 }, (_, i) => 59 - i));
  }),
);

test(
  'requests of 40 accounts at once in four processes → each account admits exactly its own allowance',
  withinAMinute(first, async () => {
    const accounts = await Promise.all(Array.from({ length: 40 }, () => makeAccount(first.db)));
    const processes = [first.db, second.db, first.db, second.db].map((db) => new Allowances(db));
    const allowanceOfAccount = (index: number) => (index % 8) * 3;
    const asked = Array.from({ length: 40 * 40 }, (_, n) => ({ index: n % 40, process: processes[(n * 7) % 4]! }));
    const answers = await Promise.all(
      asked.map(async ({ index, process }) => {
        const answer = await process.count(accounts[index]!.id, allowanceOfAccount(index));
        return { index, ...answer };
      }),
    );
    for (const [index] of accounts.entries()) {
      const admitted = answers.filter((answer) => answer.index === index && answer.isAdmitted);
      // What is left is told to nobody twice, so that no two clients may believe in the same request.
      const left = admitted.map(({ remaining }) => remaining).sort((a, b) => a - b);
      expect(left).toEqual(Array.from({ length: allowanceOfAccount(index) }, (_, n) => n));
    }
  }),
);
