import { makeAccount, makeKey } from '../support/service/accounts.ts';
import { setLimitOverrides, setPlan, suspendAccount } from '../../db/accounts/accounts.ts';
import { revokeApiKey } from '../../db/accounts/api-keys.ts';
import { RawUpload } from '../support/uploads/raw-upload.ts';
import { useService } from '../support/service/use-service.ts';
import { expectNothingLeft, filePart, form, tone, traces } from '../support/uploads/uploads.ts';
import { until } from '../support/until.ts';
import type { TestAccount } from '../support/service/accounts.ts';

const first = await useService();
const second = await useService({ beside: first });
let audio: Buffer;
beforeAll(async () => {
  audio = await tone(1_000);
});

/** So many uploads at once, to both processes in turn; how many ended with each status and code. */
async function together(account: TestAccount, count: number): Promise<Record<string, number>> {
  const responses = await Promise.all(
    Array.from({ length: count }, (_, i) =>
      (i % 2 === 0 ? first : second).post('/v1/transcriptions', account.key).attach('file', audio, 'a.wav'),
    ),
  );
  const outcomes: Record<string, number> = {};
  for (const { status, body } of responses) {
    const outcome = `${status} ${body.code ?? body.status}`;
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  }
  return outcomes;
}

test('20 uploads at once where 3 may wait → 3 are accepted, the others are 429', async () => {
  const account = await makeAccount(first.db, { limits: { queued_sessions: 3 } });
  expect(await together(account, 20)).toEqual({ '202 queued': 3, '429 too_many_queued': 17 });
  expect(await traces(first, account)).toMatchObject({ sessions: 3, jobs: 3, reservedMs: 3_000, incoming: [] });
  expect((await traces(first, account)).stored).toHaveLength(3);
});

test('10 uploads at once with a balance for 2 → 2 are accepted, the others are 402', async () => {
  const account = await makeAccount(first.db, { balanceMs: 2_999 });
  expect(await together(account, 10)).toEqual({ '202 queued': 2, '402 insufficient_balance': 8 });
  expect(await traces(first, account)).toMatchObject({ sessions: 2, jobs: 2, reservedMs: 2_000, balanceMs: 2_999 });
  expect((await traces(first, account)).stored).toHaveLength(2);
});

test('uploads one after the other up to the limit → each is accepted, none is counted twice', async () => {
  const account = await makeAccount(first.db, { limits: { queued_sessions: 8 } });
  for (let i = 0; i < 8; i += 1) {
    await first.post('/v1/transcriptions', account.key).attach('file', audio, 'a.wav').expect(202);
  }
  await first.post('/v1/transcriptions', account.key).attach('file', audio, 'a.wav').expect(429);
});

test('a slow upload → counts against the queued sessions until it ends', async () => {
  const account = await makeAccount(first.db, { limits: { queued_sessions: 1 } });
  const body = form(filePart(audio));
  const slow = new RawUpload(first.api.port).head({
    Authorization: `Bearer ${account.key}`,
    'Content-Length': body.length,
  });
  slow.send(body.subarray(0, 5_000));
  await until(async () => (await traces(first, account)).incoming.length === 1);
  await first.post('/v1/transcriptions', account.key).attach('file', audio, 'a.wav').expect(429);
  slow.socket.destroy();
  await until(async () => (await traces(first, account)).incoming.length === 0);
  await first.post('/v1/transcriptions', account.key).attach('file', audio, 'a.wav').expect(202);
});

test.each([
  ['its key is revoked', 401, 'unauthorized', (account: TestAccount) => revokeApiKey(first.db, account.keyId)],
  ['its key expires', 401, 'unauthorized', (account: TestAccount) => expire(account)],
  [
    'the account is suspended',
    403,
    'account_suspended',
    (account: TestAccount) => suspendAccount(first.db, account.id),
  ],
  ['the plan becomes free', 403, 'plan_not_eligible', (account: TestAccount) => setPlan(first.db, account.id, 'free')],
  [
    'the longest audio falls below it',
    422,
    'audio_too_long',
    (account: TestAccount) => setLimitOverrides(first.db, account.id, { max_audio_ms: 999 }),
  ],
  [
    'the largest file falls below it',
    413,
    'file_too_large',
    (account: TestAccount) => setLimitOverrides(first.db, account.id, { max_upload_bytes: 1_000 }),
  ],
])('%s while the body comes → %s %s, nothing is left', async (_, status, code, change) => {
  const account = await makeAccount(first.db);
  const before = await traces(first, account);
  const body = form(filePart(audio));
  const client = new RawUpload(first.api.port).head({
    Authorization: `Bearer ${account.key}`,
    'Content-Length': body.length,
    'Idempotency-Key': 'k',
  });
  client.send(body.subarray(0, 5_000));
  await until(async () => (await traces(first, account)).incoming.length === 1);
  await change(account);
  const answer = await client.send(body.subarray(5_000)).answer();
  expect([answer.status, (JSON.parse(answer.text) as { code: string }).code]).toEqual([status, code]);
  client.socket.destroy();
  await expectNothingLeft(first, account, before);
});

test('another key of the account is revoked while the body comes → accepted', async () => {
  const account = await makeAccount(first.db);
  const { keyId } = await makeKey(first.db, account.id);
  const body = form(filePart(audio));
  const client = new RawUpload(first.api.port).head({
    Authorization: `Bearer ${account.key}`,
    'Content-Length': body.length,
  });
  client.send(body.subarray(0, 5_000));
  await until(async () => (await traces(first, account)).incoming.length === 1);
  await revokeApiKey(first.db, keyId);
  expect(await client.send(body.subarray(5_000)).answer()).toMatchObject({ status: 202 });
  client.socket.destroy();
});

async function expire({ keyId }: TestAccount): Promise<void> {
  await first.db.updateTable('api_keys').set({ expires_at: '2020-01-01' }).where('id', '=', keyId).execute();
}
