/** Which new jobs wake the workers: those that may run at once. */
import { randomUUIDv7 } from 'node:crypto';
import { inAccountTransaction } from '../../../db/accounts/account-transaction.ts';
import { openConnection } from '../../../db/connection/database.ts';
import { nextStartTag } from '../../../db/sessions/start-tag.ts';
import { insertQueuedSession } from '../../../db/sessions/states.ts';
import { createLog } from '../../../src/ops/log.ts';
import { failSession } from '../../../src/sessions/endings.ts';
import { giveJob } from '../../../src/sessions/job.ts';
import { notifyChannel } from '../../../src/queue/connection.ts';
import { Queue, newJobId, transcriptionQueue } from '../../../src/queue/queue.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { useDatabase } from '../../support/service/use-database.ts';

const { db, url } = await useDatabase();
const queue = new Queue(url, createLog({ logLevel: 'silent' }), 'api');
const listener = openConnection(url);
let news = 0;
beforeAll(async () => {
  await queue.start();
  await listener.connect();
  listener.on('notification', () => (news += 1));
  await listener.query(`listen ${notifyChannel}`);
});
afterAll(async () => {
  await listener.end();
  await queue.stop();
});

async function upload(accountId: string, afterSeconds = 0): Promise<string> {
  const ids = { accountId, id: randomUUIDv7(), jobId: randomUUIDv7(), queueJobId: newJobId(), title: '' };
  const ofAudio = { durationMs: 1_000, maxAudioMs: 14_400_000, reservedMs: 0, attempts: 3 };
  await inAccountTransaction(db, accountId, async (trx, owner) => {
    const startTag = nextStartTag(transcriptionQueue, owner!);
    await giveJob(trx, queue, owner!, await insertQueuedSession(trx, { ...ids, ...ofAudio, startTag }), afterSeconds);
  });
  return ids.id;
}

/** How much news came of it. What was told before an answer comes with it at the latest. */
async function newsOf(work: () => Promise<unknown>): Promise<number> {
  const before = news;
  await work();
  await listener.query('select');
  return news - before;
}

const fail = (accountId: string, id: string) =>
  inAccountTransaction(db, accountId, (trx) => failSession(trx, accountId, id, 'canceled'));

test('an account that may run two at once → news of each upload until two are unfinished, and of others meanwhile', async () => {
  const [one, other] = [await makeAccount(db, { limits: { running_jobs: 2 } }), await makeAccount(db)];
  const ids: string[] = [];
  for (const expected of [1, 1, 0, 0]) expect(await newsOf(async () => ids.push(await upload(one.id)))).toBe(expected);
  expect(await newsOf(() => upload(other.id))).toBe(1);
  for (const id of ids.slice(0, 3)) await fail(one.id, id);
  expect(await newsOf(() => upload(one.id))).toBe(1);
});

test('a job that nobody may take yet → no news', async () => {
  const { id } = await makeAccount(db);
  expect(await newsOf(() => upload(id, 60))).toBe(0);
});
