/** What one worker of all does for them. */
import { sql } from 'kysely';
import { lookForUnindexed, firstPlace } from '../../../db/search/unindexed.ts';
import { acquireLease, wasLeased } from '../../../db/leases.ts';
import { createLog } from '../../../src/ops/log.ts';
import { keepIndexing, lookedThrough } from '../../../src/worker/backlog.ts';
import { everyMinute } from '../../../src/worker/every-minute.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { makeSession } from '../../support/service/sessions.ts';
import { useDatabase } from '../../support/service/use-database.ts';
import { until } from '../../support/until.ts';

const { db } = await useDatabase();
const log = createLog({ logLevel: 'silent' });

/** What workers that start now hear in their first minute. */
async function firstMinutes(count: number): Promise<boolean[]> {
  const stopping = new AbortController();
  const heard: boolean[] = [];
  const workers = Array.from({ length: count }, () =>
    everyMinute({ db, log, stopping: stopping.signal }, 'test', async (isOurTurn) => void heard.push(isOurTurn)),
  );
  await until(() => heard.length === count);
  stopping.abort();
  await Promise.all(workers);
  return heard;
}

test('ten workers in one minute → one has the turn; once it is gone for a minute, another', async () => {
  expect((await firstMinutes(10)).filter(Boolean)).toHaveLength(1);
  expect((await firstMinutes(3)).filter(Boolean)).toHaveLength(0);
  await sql`update turns set taken_at = taken_at - interval '1 minute' where name = 'test'`.execute(db);
  expect((await firstMinutes(3)).filter(Boolean)).toHaveLength(1);
});

test('a turn → is remembered for as long as asked, and one of the future, before the clock was set back, is none', async () => {
  expect(await wasLeased(db, 'remembered', 60)).toBe(false);
  expect(await acquireLease(db, 'remembered', 0)).toBe(true);
  expect(await wasLeased(db, 'remembered', 60)).toBe(true);
  await sql`update turns set taken_at = taken_at + interval '1 hour' where name = 'remembered'`.execute(db);
  expect(await wasLeased(db, 'remembered', 60)).toBe(false);
});

test('two workers and sessions that are not indexed → indexed at once, and noted for an hour', async () => {
  const { id } = await makeAccount(db);
  await makeSession(db, id, { status: 'completed' });
  const missing = async () => (await lookForUnindexed(db, firstPlace, 10)).filter(({ isMissing }) => isMissing).length;
  await sql`delete from passages`.execute(db);
  const stopping = new AbortController();
  const start = () => keepIndexing({ db, log, stopping: stopping.signal });
  const working = [start(), start()];
  await until(missing, (count) => count === 0);
  await until(() => wasLeased(db, lookedThrough, 60));
  stopping.abort();
  await Promise.all(working);
});
