import { UploadReads } from '../../../../src/api/uploads/reads.ts';
import { makeAccount } from '../../../support/service/accounts.ts';
import { countStatements } from '../../../support/service/counted-statements.ts';
import { useService } from '../../../support/service/use-service.ts';
import { makeSession } from '../../../support/service/sessions.ts';
import { tone } from '../../../support/uploads/uploads.ts';

const service = await useService();

test('500 uploads of two accounts in one moment → one statement, each account as it is', async () => {
  const [one, two] = [await makeAccount(service.db), await makeAccount(service.db, { balanceMs: 7_000 })];
  await makeSession(service.db, one.id, { reservedMs: 1_000 });
  await makeSession(service.db, one.id, { status: 'processing' });
  const { db, count } = countStatements(service.db);
  const reads = new UploadReads(db);
  const quotas = await Promise.all(Array.from({ length: 500 }, (_, i) => reads.quota([one, two][i % 2]!.id)));
  expect(count()).toBe(1);
  expect(quotas.slice(0, 2)).toMatchObject([
    { id: one.id, queued: 1, reserved_ms: 1_000, queued_sessions: 500 },
    { id: two.id, queued: 0, balance_ms: 7_000 },
  ]);
  expect(await reads.quota('00000000-0000-7000-8000-000000000000')).toBeUndefined();
});

test('records of keys in one moment → each its own, none of another account', async () => {
  const [one, two] = [await makeAccount(service.db), await makeAccount(service.db)];
  const upload = (key: string) => service.post('/v1/transcriptions', one.key).set('Idempotency-Key', key);
  const audio = await tone(100);
  const { body } = await upload('a').attach('file', audio, 'a.wav').expect(202);
  const { db, count } = countStatements(service.db);
  const reads = new UploadReads(db);
  const asked = [reads.record(one.id, 'a'), reads.record(one.id, 'b'), reads.record(two.id, 'a')];
  const records = await Promise.all([...asked, reads.record(one.id, undefined)]);
  expect(count()).toBe(1);
  expect(records.map((record) => record?.session_id)).toEqual([body.sessionId, undefined, undefined, undefined]);
});
