/** What was charged in a month. */
import { randomUUIDv7 } from 'node:crypto';
import { sql } from 'kysely';
import { usage } from '../../../scripts/admin/usage.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { makeSession } from '../../support/service/sessions.ts';
import { useService } from '../../support/service/use-service.ts';
import type { FormName } from '../../../scripts/admin/usage.ts';

const service = await useService();

async function charge(accountId: string, at: string, sessionId: string = randomUUIDv7()): Promise<void> {
  await sql`insert into ledger (account_id, id, kind, amount_ms, session_id, created_at)
    values (${accountId}, ${randomUUIDv7()}, 'charge', -7100, ${sessionId}, ${at})`.execute(service.db);
}

async function piecesOf(accountId: string | undefined, month: string, form: FormName): Promise<string[]> {
  const pieces: string[] = [];
  await usage(service, accountId, month, form).print(async (piece) => void pieces.push(piece));
  return pieces;
}

test('usage of a month → its charges and no other, from midnight to midnight UTC', async () => {
  const { id } = await makeAccount(service.db);
  const { id: session } = await makeSession(service.db, id, { title: '=1+1, or "two"', reference: '@x' });
  await charge(id, '2026-10-31T23:59:59.999999Z');
  await charge(id, '2026-11-01T00:00:00Z', session);
  await charge(id, '2026-11-30T23:59:59.999999Z');
  await charge(id, '2026-12-01T00:00:00Z');
  await charge((await makeAccount(service.db)).id, '2026-11-15T12:00:00Z');

  const json = JSON.parse((await piecesOf(id, '2026-11', 'json')).join(''));
  expect(json).toMatchObject({ id, month: '2026-11', sessions: 2, chargedMs: 14_200 });
  expect(json.charges).toEqual([
    { id: session, chargedAt: '2026-11-01T00:00:00Z', chargedMs: 7_100, title: '=1+1, or "two"', reference: '@x' },
    { id: expect.any(String), chargedAt: '2026-11-30T23:59:59.999999Z', chargedMs: 7_100 },
  ]);
  const csv = (await piecesOf(id, '2026-11', 'csv')).join('').split('\r\n');
  expect(csv).toEqual([
    'session,charged_at,charged_ms,title,reference',
    `${session},2026-11-01T00:00:00Z,7100,"'=1+1, or ""two""",'@x`,
    expect.stringMatching(/,2026-11-30T23:59:59.999999Z,7100,,$/),
    '',
  ]);
  const text = (await piecesOf(id, '2026-11', 'text')).join('');
  expect(text).toMatch(/^CHARGED \(UTC\) [^]*\n\n2 sessions charged 14.2s in 2026-11\.\n$/);
  expect(await piecesOf(id, '2026-09', 'text')).toEqual(['', '0 sessions charged 0s in 2026-09.\n']);
});

test('usage of 2,500 charges, many of one moment → each once, a thousand at a time', async () => {
  const { id } = await makeAccount(service.db);
  await sql`insert into ledger (account_id, id, kind, amount_ms, session_id, created_at)
    select ${id}, gen_random_uuid(), 'charge', -1000, gen_random_uuid(), timestamptz '2026-11-05 00:00Z' + n / 700 * interval '1 s'
    from generate_series(1, 2500) n`.execute(service.db);
  const pieces = await piecesOf(id, '2026-11', 'csv');
  const lines = pieces.map((piece) => piece.split('\r\n').length - 1);
  expect(lines).toEqual([1, 1_000, 1_000, 500, 0]);
  expect(new Set(pieces.join('').split('\r\n')).size).toBe(2_502);
  expect(JSON.parse((await piecesOf(id, '2026-11', 'json')).join('')).charges).toHaveLength(2_500);
});

test('usage of all → a line for each account, erased ones that were charged among them, and their sum is the ledger', async () => {
  const [busy, idle, erased] = [await accountNamed('Busy'), await accountNamed('=Idle'), await accountNamed('')];
  const erasedBefore = await accountNamed('');
  await sql`update accounts set deleted_at = now() where id in (${erased}, ${erasedBefore})`.execute(service.db);
  for (const at of ['2026-07-01T00:00:00Z', '2026-07-31T23:59:59.999999Z', '2026-08-01T00:00:00Z'])
    await charge(busy, at);
  await charge(erased, '2026-07-02T12:00:00Z');
  await charge(erasedBefore, '2026-06-30T23:59:59.999999Z');
  await sql`insert into ledger (account_id, id, kind, amount_ms, created_at)
    values (${busy}, ${randomUUIDv7()}, 'credit', 900, '2026-07-09T00:00Z')`.execute(service.db);

  const json = JSON.parse((await piecesOf(undefined, '2026-07', 'json')).join(''));
  expect(json).toMatchObject({ month: '2026-07', sessions: 3, chargedMs: 21_300 });
  expect(json).not.toHaveProperty('id');
  const ids = new Set([busy, idle, erased, erasedBefore]);
  expect(json.accounts.filter(({ id }: { id: string }) => ids.has(id))).toEqual(
    [
      { id: busy, name: 'Busy', plan: 'pro', sessions: 2, chargedMs: 14_200 },
      { id: idle, name: '=Idle', plan: 'pro', sessions: 0, chargedMs: 0 },
      { id: erased, name: '', plan: 'pro', sessions: 1, chargedMs: 7_100 },
    ].sort((a, b) => (a.id < b.id ? -1 : 1)),
  );
  const csv = (await piecesOf(undefined, '2026-07', 'csv')).join('').split('\r\n');
  expect(csv[0]).toBe('account,name,plan,sessions,charged_ms');
  expect(csv).toContain(`${busy},Busy,pro,2,14200`);
  expect(csv).toContain(`${idle},'=Idle,pro,0,0`);
  const text = (await piecesOf(undefined, '2026-07', 'text')).join('');
  expect(text).toMatch(new RegExp(`\\n${erased} {2}\\(erased\\) +pro +1 +7.1s\\n`));
  expect(text).toMatch(/^ACCOUNT [^]*\n\n3 sessions charged 21.3s in 2026-07\.\n$/);
});

test('usage of all 2,500 accounts → each once, a thousand at a time, and their sum is the ledger', async () => {
  await sql`insert into accounts (id, name, plan) select gen_random_uuid(), n, 'pro' from generate_series(1, 2500) n`.execute(
    service.db,
  );
  await sql`insert into ledger (account_id, id, kind, amount_ms, session_id, created_at)
    select id, gen_random_uuid(), 'charge', -1 - length(name), gen_random_uuid(), '2026-05-05 00:00Z' from accounts`.execute(
    service.db,
  );
  const pieces = await piecesOf(undefined, '2026-05', 'json');
  expect(pieces.map((piece) => piece.split('"plan"').length - 1).slice(0, 3)).toEqual([0, 1_000, 1_000]);
  const { accounts, ...total } = JSON.parse(pieces.join(''));
  const { rows } = await sql<{ id: string; ms: number }>`select account_id as id, -amount_ms as ms from ledger
    where created_at = '2026-05-05 00:00Z' order by 1`.execute(service.db);
  expect(accounts.map(({ id, chargedMs }: { id: string; chargedMs: number }) => ({ id, ms: chargedMs }))).toEqual(rows);
  const ms = rows.reduce((sum, row) => sum + row.ms, 0);
  expect(total).toEqual({ month: '2026-05', sessions: rows.length, chargedMs: ms });
});

async function accountNamed(name: string): Promise<string> {
  const id = randomUUIDv7();
  await sql`insert into accounts (id, name, plan) values (${id}, ${name}, 'pro')`.execute(service.db);
  return id;
}
