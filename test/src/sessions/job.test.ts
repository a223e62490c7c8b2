import { sql } from 'kysely';
import { inAccountTransaction } from '../../../db/accounts/account-transaction.ts';
import { createLog } from '../../../src/ops/log.ts';
import { expirySeconds } from '../../../src/queue/jobs.ts';
import { Queue, newJobId } from '../../../src/queue/queue.ts';
import { giveJob } from '../../../src/sessions/job.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { atEnd } from '../../support/at-end.ts';
import { useDatabase } from '../../support/service/use-database.ts';
import type { QueuedSession } from '../../../db/sessions/states.ts';

const database = await useDatabase();
let queue: Queue;
let accountId: string;
beforeAll(async () => {
  queue = new Queue(database.url, createLog({ logLevel: 'silent' }), 'api');
  await queue.start();
  atEnd(() => queue.stop());
  accountId = (await makeAccount(database.db, { limits: { running_jobs: 7 } })).id;
});

/** The job's row after a session of this kind got one. */
async function given(session: Partial<QueuedSession>) {
  const row = {
    id: newJobId(),
    queue_job_id: newJobId(),
    duration_ms: null,
    max_audio_ms: 14_400_000,
    separate_channels: false,
    attempts_left: 3,
    start_tag: 0,
  };
  await inAccountTransaction(database.db, accountId, async (trx, account) => {
    await giveJob(trx, queue, account!, { ...row, ...session });
  });
  const { rows } = await sql`select data, expire_seconds, priority, group_id, group_tier from pgboss.job
    where name = 'transcription' and id = ${row.queue_job_id}`.execute(database.db);
  return { rows, row };
}

test('a measured session → a job of its own id, for its duration and its account’s limit', async () => {
  const { rows, row } = await given({ duration_ms: 60_000 });
  expect(rows).toEqual([
    {
      data: { accountId, sessionId: row.id },
      expire_seconds: expirySeconds(60_000),
      priority: 0,
      group_id: accountId,
      group_tier: '7',
    },
  ]);
});

test('a session that could not be measured → time for the longest audio that it may be', async () => {
  expect((await given({})).rows).toMatchObject([{ expire_seconds: expirySeconds(14_400_000) }]);
});

test('channels that are recognized separately → time for eight of them', async () => {
  const { rows } = await given({ duration_ms: 60_000, separate_channels: true });
  expect(rows).toMatchObject([{ expire_seconds: expirySeconds(8 * 60_000) }]);
});

test('the start tag of a session → its job stands behind those with smaller ones', async () => {
  expect((await given({ start_tag: 36_000 })).rows).toMatchObject([{ priority: -36_000 }]);
});
