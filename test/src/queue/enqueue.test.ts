import { sql } from 'kysely';
import { inAccountTransaction } from '../../../db/accounts/account-transaction.ts';
import { createLog } from '../../../src/ops/log.ts';
import { expirySeconds, newJobId } from '../../../src/queue/jobs.ts';
import { Queue } from '../../../src/queue/queue.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { atEnd } from '../../support/at-end.ts';
import { useDatabase } from '../../support/service/use-database.ts';

const database = await useDatabase();
let queue: Queue;
let accountId: string;
beforeAll(async () => {
  queue = new Queue(database.url, createLog({ logLevel: 'silent' }), 'api');
  await queue.start();
  atEnd(() => queue.stop());
  accountId = (await makeAccount(database.db, { limits: { running_jobs: 7 } })).id;
});

test.each([
  ['a measured session → time for its duration', { duration_ms: 60_000 }, { expire_seconds: expirySeconds(60_000) }],
  [
    'one that could not be measured → for the longest that it may be',
    {},
    { expire_seconds: expirySeconds(14_400_000) },
  ],
  [
    'channels that are recognized separately → for eight of them',
    { duration_ms: 60_000, heard_channels: 8 },
    { expire_seconds: expirySeconds(8 * 60_000) },
  ],
  ['a start tag → behind those with smaller ones', { start_tag: 36_000 }, { priority: -36_000 }],
])('%s', async (_, session, expected) => {
  const row = {
    id: newJobId(),
    queue_job_id: newJobId(),
    duration_ms: null,
    max_audio_ms: 14_400_000,
    heard_channels: 1,
    attempts_left: 3,
    start_tag: 0,
  };
  await inAccountTransaction(database.db, accountId, async (trx, account) => {
    await queue.enqueue(trx, account!, { ...row, ...session });
  });
  const { rows } = await sql`select data, expire_seconds, priority, group_id, group_tier from pgboss.job
    where name = 'transcription' and id = ${row.queue_job_id}`.execute(database.db);
  const ofAccount = { data: { accountId, sessionId: row.id }, group_id: accountId, group_tier: '7' };
  expect(rows).toMatchObject([{ ...ofAccount, ...expected }]);
});
