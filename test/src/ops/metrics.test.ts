import { sql } from 'kysely';
import { openDatabase } from '../../../db/connection/database.ts';
import { createLog } from '../../../src/ops/log.ts';
import { Metrics } from '../../../src/ops/metrics.ts';
import { measures } from '../../../src/ops/readings.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { lockWaits } from '../../support/service/lock-waits.ts';
import { makeSession, queueSession } from '../../support/service/sessions.ts';
import { useDatabase } from '../../support/service/use-database.ts';
import { inTransaction } from '../../../db/connection/transaction.ts';

const database = await useDatabase();
const forget = () => database.db.deleteFrom('leases').where('name', '=', measures.name).execute();
afterEach(forget);

test('the oldest session that waits is shown as it is now, and not at all while the database is away', async () => {
  const { id } = await makeAccount(database.db);
  await queueSession(database.db, id, { createdAt: new Date(Date.now() - 3_600_000).toISOString() });
  const { db, close } = openDatabase(database.url, () => {}, { maxConnections: 1 });
  const { registry } = new Metrics(db, createLog({ logLevel: 'silent' }));
  const valueOf = async (name: string) =>
    new RegExp(`^${name}(?:{.*})? (\\S+)$`, 'm').exec(await registry.metrics())?.[1];
  expect(Number(await valueOf('transcription_oldest_queued_seconds'))).toBeGreaterThan(3_599);
  expect(await valueOf('transcription_sessions')).toBe('1');
  await close();
  expect(await valueOf('transcription_oldest_queued_seconds')).toBeUndefined();
  expect(await valueOf('transcription_sessions')).toBeUndefined();
});

test('a database that does not answer → the other metrics are shown meanwhile, without the queue', async () => {
  const { db, close } = openDatabase(database.url, () => {}, { maxConnections: 1 });
  const { registry } = new Metrics(db, createLog({ logLevel: 'silent' }));
  await inTransaction(database.db, async (trx) => {
    await sql`lock table sessions in access exclusive mode`.execute(trx);
    const shown = await registry.metrics();
    // Its question still waits: nobody had to wait for its end.
    expect(await lockWaits(trx)).toHaveLength(1);
    expect(shown).toMatch(/^process_cpu_seconds_total /m);
    expect(shown).not.toMatch(/^transcription_(sessions|oldest_queued_seconds)\b/m);
  });
  await close();
});

test('audio of sessions that wait, run or failed → its bytes; audio that was removed, and of sessions that never had its size → none', async () => {
  const { db } = database;
  const { id } = await makeAccount(db);
  const { registry } = new Metrics(db, createLog({ logLevel: 'silent' }));
  const bytes = async () => {
    await forget();
    return shownBytes();
  };
  const shownBytes = async () => Number(/^transcription_audio_bytes (\d+)$/m.exec(await registry.metrics())![1]);
  const before = await bytes();
  await makeSession(db, id, { status: 'queued' });
  const sizes = { processing: 20_000_000_000, failed: 300, completed: 4_000 } as const;
  const ids = new Map<string, string>();
  for (const status of ['processing', 'failed', 'completed'] as const) {
    const session = await makeSession(db, id, { status });
    ids.set(status, session.id);
    await sql`update sessions set audio_bytes = ${sizes[status]}, audio_deleted_at = null where id = ${session.id}`.execute(
      db,
    );
  }
  expect(await bytes()).toBe(before + 20_000_004_300);
  await sql`update sessions set audio_deleted_at = now() where id = ${ids.get('completed')}`.execute(db);
  expect(await bytes()).toBe(before + 20_000_000_300);
});

test('what one process has counted serves all for 15 s; what nobody could count is counted by each', async () => {
  const { db } = database;
  const queued = async () => {
    const { registry } = new Metrics(db, createLog({ logLevel: 'silent' }));
    return Number(/^transcription_sessions{status="queued"} (\d+)$/m.exec(await registry.metrics())![1]);
  };
  const before = await queued();
  const { id } = await makeAccount(db);
  await queueSession(db, id);
  expect(await queued()).toBe(before);
  const passed = (seconds: number) =>
    sql`update leases set found_at = found_at - make_interval(secs => ${seconds})`.execute(db);
  // Another one counts meanwhile.
  await passed(16);
  expect(await queued()).toBe(before);
  await passed(16);
  expect(await queued()).toBe(before + 1);
  await queueSession(db, id);
  await sql`update leases set taken_at = taken_at - interval '16 s', found_at = found_at - interval '16 s'`.execute(db);
  expect(await queued()).toBe(before + 2);
});
