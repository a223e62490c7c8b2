/** Sessions are deleted when their time has come, and no sooner. What goes with one: test/scripts/admin/support. */
import { sql } from 'kysely';
import { updateAccount } from '../../../db/accounts/accounts.ts';
import { deleteDueSessions } from '../../../src/worker/sweeps.ts';
import { ScriptedRecognizer } from '../../support/models/scripted-recognizer.ts';
import { makeAccount } from '../../support/service/accounts.ts';
import { expectSound } from '../../support/service/audit.ts';
import { makeSession } from '../../support/service/sessions.ts';
import { useService } from '../../support/service/use-service.ts';
import { until } from '../../support/until.ts';
import { filePart, form, formType, textPart, tone } from '../../support/uploads/uploads.ts';
import type { TestAccount } from '../../support/service/accounts.ts';

const service = await useService();
const running = () => ({ ...service, stopping: new AbortController().signal });
afterEach(() => expectSound(service));

const dueIn = (id: string, seconds: number) =>
  sql`update sessions set delete_at = now() + ${seconds} * interval '1 second' where id = ${id}`.execute(service.db);
const statusOf = async (account: TestAccount, id: string) =>
  (await service.get(`/v1/sessions/${id}`, account.key)).status;

async function upload(account: TestAccount, ...fields: [name: string, value: string][]) {
  const body = form(filePart(await tone(300), 'memo.wav'), ...fields.map(([name, value]) => textPart(name, value)));
  return service.post('/v1/transcriptions', account.key).set('Content-Type', formType).send(body);
}

async function deleteAtOf(account: TestAccount, ...fields: [name: string, value: string][]) {
  const { body: accepted } = await upload(account, ...fields);
  const { body } = await service.get(`/v1/sessions/${String(accepted.sessionId)}`, account.key).expect(200);
  const { createdAt, deleteAt } = body as { createdAt: string; deleteAt?: string };
  const days = deleteAt && (Date.parse(deleteAt) - Date.parse(createdAt)) / 86_400_000;
  // The microseconds are those of the upload.
  if (deleteAt !== undefined) expect(deleteAt.slice(10)).toBe(createdAt.slice(10));
  return days;
}

test('the upload says how long, otherwise its account; otherwise it is kept', async () => {
  const account = await makeAccount(service.db);
  expect(await deleteAtOf(account)).toBeUndefined();
  expect(await deleteAtOf(account, ['retentionDays', '3650'])).toBe(3_650);
  await updateAccount(service.db, account.id, { retention_days: 30 });
  expect(await deleteAtOf(account)).toBe(30);
  expect(await deleteAtOf(account, ['retentionDays', '1'])).toBe(1);
  await updateAccount(service.db, account.id, { retention_days: null });
  expect(await deleteAtOf(account)).toBeUndefined();
});

test('due sessions of every status → gone, also for who waits for one; others are left alone', async () => {
  const [account, other] = [await makeAccount(service.db), await makeAccount(service.db)];
  const make = async (status: 'queued' | 'processing' | 'completed' | 'failed') => {
    const { id } = await makeSession(service.db, account.id, { status, retentionDays: 1 });
    return id;
  };
  const due = [await make('completed'), await make('failed'), await make('processing')];
  const { body: queued } = await upload(account, ['retentionDays', '1']);
  due.push(String(queued.sessionId));
  const stays = [await make('completed'), (await makeSession(service.db, account.id, { status: 'completed' })).id];
  const ofOther = (await makeSession(service.db, other.id, { status: 'completed', retentionDays: 1 })).id;
  for (const id of due) await dueIn(id, -1);
  await dueIn(stays[0]!, 60);
  const waiting = service.get(`/v1/sessions/${due[3]}/transcript?wait=30`, account.key).then(({ status }) => status);

  await deleteDueSessions(running());

  expect(await Promise.all(due.map((id) => statusOf(account, id)))).toEqual([404, 404, 404, 404]);
  expect(await waiting).toBe(404);
  expect(await Promise.all(stays.map((id) => statusOf(account, id)))).toEqual([200, 200]);
  expect(await statusOf(other, ofOther)).toBe(200);
});

test('more than are looked for at once, one of which can not be deleted → all others are, and that one the next time', async () => {
  const account = await makeAccount(service.db);
  const queued = String((await upload(account, ['retentionDays', '1'])).body.sessionId);
  const others: string[] = [];
  while (others.length < 120) others.push((await makeSession(service.db, account.id, { status: 'failed' })).id);
  for (const [index, id] of [queued, ...others].entries()) await dueIn(id, index - 1_000);
  const broken = Object.create(service.queue, {
    cancel: { value: () => Promise.reject(new Error('as the test says')) },
  }) as typeof service.queue;
  await deleteDueSessions({ ...running(), queue: broken });
  const { body: page } = await service.get('/v1/sessions', account.key);
  expect(page.items.map(({ id }: { id: string }) => id)).toEqual([queued]);
  await deleteDueSessions(running());
  expect(await statusOf(account, queued)).toBe(404);
});

test('a worker that runs → deletes what is due without being told', async () => {
  const account = await makeAccount(service.db);
  const { id } = await makeSession(service.db, account.id, { status: 'failed', retentionDays: 1 });
  await dueIn(id, -1);
  const worker = await service.work(new ScriptedRecognizer());
  await until(async () => (await statusOf(account, id)) === 404);
  await worker.stop();
});
