import { randomUUIDv7 } from 'node:crypto';
import { sql } from 'kysely';
import { inAccountTransaction } from '../../../db/accounts/account-transaction.ts';
import { addLedgerEntry, eraseLedgerText, listLedger } from '../../../db/accounts/ledger.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { useDatabase } from '../../support/service/use-database.ts';

const database = await useDatabase();
let accountId: string;
beforeEach(async () => void (accountId = (await makeAccount(database.db, { balanceMs: 1_000 })).id));
afterEach(async () => {
  const { rows } = await sql`select id from accounts a where balance_ms <>
    (select coalesce(sum(amount_ms), 0) from ledger where account_id = a.id)`.execute(database.db);
  expect(rows).toEqual([]);
});

type Entry = Parameters<typeof addLedgerEntry>[1] extends infer E
  ? E extends unknown
    ? Omit<E, 'accountId'>
    : never
  : never;
const add = (entry: Entry) =>
  inAccountTransaction(database.db, accountId, (trx) => addLedgerEntry(trx, { ...entry, accountId }));
const balance = async () =>
  (await database.db.selectFrom('accounts').select('balance_ms').where('id', '=', accountId).executeTakeFirst())!
    .balance_ms;
const amounts = async () => (await listLedger(database.db, accountId)).map((entry) => entry.amount_ms);

test('the same reference again, also at the same time → one entry, whatever the amount', async () => {
  const added = await Promise.all(
    [700, 700, 900].map((amountMs) => add({ kind: 'credit', amountMs, reference: 'invoice 7' })),
  );
  expect(added.filter(Boolean)).toHaveLength(1);
  expect(await amounts()).toHaveLength(2);
  expect(await add({ kind: 'correction', amountMs: -1, reason: 'r', reference: 'invoice 7' })).toBe(false);
});

test('the same reference for another account → an entry of its own', async () => {
  await add({ kind: 'credit', amountMs: 1, reference: 'invoice 8' });
  accountId = (await makeAccount(database.db)).id;
  expect(await add({ kind: 'credit', amountMs: 1, reference: 'invoice 8' })).toBe(true);
});

test('a second charge for a session → refused by the database, nothing changed', async () => {
  const sessionId = randomUUIDv7();
  await add({ kind: 'charge', amountMs: -10, sessionId });
  await expect(add({ kind: 'charge', amountMs: -10, sessionId })).rejects.toMatchObject({
    constraint: 'ledger_one_charge_per_session',
  });
  expect(await balance()).toBe(990);
});

test.each([
  ['a charge that gives', { kind: 'charge', amountMs: 1, sessionId: randomUUIDv7() }],
  ['a credit that takes', { kind: 'credit', amountMs: -1 }],
  ['a credit of nothing', { kind: 'credit', amountMs: 0 }],
] as const)('%s → refused by the database', async (_, entry) => {
  await expect(add(entry)).rejects.toMatchObject({ code: '23514' });
});

test.each([
  'update ledger set amount_ms = amount_ms + 1',
  "update ledger set reason = 'another'",
  'delete from ledger',
  'truncate ledger',
  'truncate ledger cascade',
])('%s → refused: the ledger is append-only', async (statement) => {
  await expect(sql.raw(statement).execute(database.db)).rejects.toThrow('append-only');
  expect(await amounts()).toEqual([1_000]);
});

test('erasing the words of a ledger → the amounts stay, and nothing else changes', async () => {
  await add({ kind: 'correction', amountMs: -5, reason: 'Ms. Smith called', reference: 'ticket 1' });
  const before = await listLedger(database.db, accountId);
  await inTransaction(database.db, (trx) => eraseLedgerText(trx, accountId));
  const wordless = before.map((entry) => ({ ...entry, reason: null, reference: null }));
  expect(await listLedger(database.db, accountId)).toEqual(wordless);
});

test('a balance beyond the safe integers → refused, never rounded', async () => {
  await add({ kind: 'credit', amountMs: Number.MAX_SAFE_INTEGER - 1_000 });
  expect(await balance()).toBe(Number.MAX_SAFE_INTEGER);
  await expect(add({ kind: 'credit', amountMs: 1 })).rejects.toThrow('accounts_balance_ms_check');
  expect(await balance()).toBe(Number.MAX_SAFE_INTEGER);
});

test('concurrent entries → none is lost', async () => {
  await Promise.all(Array.from({ length: 20 }, () => add({ kind: 'credit', amountMs: 3 })));
  expect(await balance()).toBe(1_060);
});
