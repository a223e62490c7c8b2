import { sql } from 'kysely';
import { makeAccount } from '../../support/service/accounts.ts';
import { expectSound } from '../../support/service/audit.ts';
import { makeSession } from '../../support/service/sessions.ts';
import { useService } from '../../support/service/use-service.ts';
import { aTime, adminOf, anId, refused } from './run-admin.ts';

const service = await useService();
const admin = adminOf(service);
afterEach(() => expectSound(service));

test('credit, correct up and down, and a charge → the ledger in order, and the balance is its sum', async () => {
  const { id } = await makeAccount(service.db, { balanceMs: 0 });
  const { id: sessionId } = await makeSession(service.db, id, {
    status: 'completed',
    reservedMs: 7_100,
    title: 'Secret plans',
  });
  expect(await admin.json('balance', 'credit', id, '10h')).toMatchObject({ id, balanceMs: 35_992_900, changed: true });
  await admin.json('balance', 'correct', id, '-2h30m', '--reason', 'Credited twice', '--reference', 'ticket-7');
  await admin.json('balance', 'correct', id, '--reason', '-5', '+5m');
  const shown = await admin.json('balance', 'show', id);
  expect(shown).toEqual({
    ...{ id, name: 'A company', balanceMs: 27_292_900, reservedMs: 0, availableMs: 27_292_900 },
    entries: [
      { id: anId, kind: 'charge', amountMs: -7_100, sessionId, createdAt: aTime },
      { id: anId, kind: 'credit', amountMs: 36_000_000, createdAt: aTime },
      {
        id: anId,
        kind: 'correction',
        amountMs: -9_000_000,
        reason: 'Credited twice',
        reference: 'ticket-7',
        createdAt: aTime,
      },
      { id: anId, kind: 'correction', amountMs: 300_000, reason: '-5', createdAt: aTime },
    ],
  });

  const { stdout } = await admin.run('balance', 'show', id);
  expect(stdout).toMatch(/Balance +7h 34m 52.9s\n/);
  expect(stdout).toMatch(/correction +-2h 30m +7h 29m 52.9s +ticket-7: Credited twice\n/);
  for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
});

test('reservations → shown beside the balance', async () => {
  const { id } = await makeAccount(service.db, { balanceMs: 60_000 });
  const { id: session } = await makeSession(service.db, id, { reservedMs: 90_000 });
  expect(await admin.json('balance', 'show', id)).toMatchObject({
    balanceMs: 60_000,
    reservedMs: 90_000,
    availableMs: -30_000,
  });
  await admin.json('sessions', 'delete', session);
});

test('a repeated reference → changes nothing and says so, whatever the amount and kind', async () => {
  const { id } = await makeAccount(service.db, { balanceMs: 0 });
  const other = await makeAccount(service.db, { balanceMs: 0 });
  await admin.json('balance', 'credit', id, '3h', '--reference', 'invoice-1');
  const [again, corrected, elsewhere] = await Promise.all([
    admin.run('balance', 'credit', id, '5h', '--reference', 'invoice-1'),
    admin.json('balance', 'correct', id, '-1h', '--reason', 'x', '--reference', 'invoice-1'),
    admin.json('balance', 'credit', other.id, '1h', '--reference', 'invoice-1'),
  ]);
  expect(again).toEqual({
    ...{ code: 0, stderr: '' },
    stdout: expect.stringMatching(
      /^Nothing changed: the reference 'invoice-1' was used before, for a credit of 3h at .*Z\. The balance is 3h\.\n$/,
    ),
  });
  expect(corrected).toMatchObject({ id, changed: false, balanceMs: 10_800_000 });
  expect(elsewhere).toMatchObject({ id: other.id, changed: true, balanceMs: 3_600_000 });
});

test('the same reference many times at once → one credit', async () => {
  const { id } = await makeAccount(service.db, { balanceMs: 0 });
  const credit = () => admin.json('balance', 'credit', id, '1h', '--reference', 'once');
  const answers = await Promise.all([credit(), credit(), credit()]);
  expect(answers.map(({ changed }) => changed).sort()).toEqual([false, false, true]);
  expect(await admin.json('balance', 'show', id)).toMatchObject({
    balanceMs: 3_600_000,
    entries: [{ reference: 'once' }],
  });
});

test('a balance beyond the safe integers → refused', async () => {
  const { id } = await makeAccount(service.db, { balanceMs: Number.MAX_SAFE_INTEGER - 1 });
  expect(await admin.run('balance', 'credit', id, '1s')).toEqual(refused(/too large to count/));
  const { rows } = await sql`select 1 from ledger where account_id = ${id}`.execute(service.db);
  expect(rows).toHaveLength(1);
});
