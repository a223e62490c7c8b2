/** What belongs to another account is, in every place where an id goes, what never was. */
import { randomUUIDv7 } from 'node:crypto';
import { inTransaction } from '../../db/connection/transaction.ts';
import { deleteSession } from '../../db/sessions/states.ts';
import { encodeCursor } from '../../src/api/reads/cursor.ts';
import { useAccount, useService } from '../support/service/use-service.ts';
import { makeSession } from '../support/service/sessions.ts';
import { filePart, form, formType, tone } from '../support/uploads/uploads.ts';
import { jest } from '../support/run/jest.ts';
import { holdTheClock } from '../support/faults/held-clock.ts';
import type { Response } from 'supertest';
import type { TestAccount } from '../support/service/accounts.ts';
import type { TestSession } from '../support/service/sessions.ts';

const statuses = ['queued', 'processing', 'completed', 'failed'] as const;
const sessions = new Map<string, TestSession>();
let deleted: TestSession;
const service = await useService();
const owner = await useAccount(service);
const stranger = await useAccount(service);
beforeAll(async () => {
  for (const status of statuses) sessions.set(status, await makeSession(service.db, owner.id, { status }));
  deleted = await makeSession(service.db, stranger.id, { status: 'completed' });
  await inTransaction(service.db, (trx) => deleteSession(trx, stranger.id, deleted.id));
});

/** All that a client can tell two answers apart by, but for what is new in every answer. */
function visible({ status, headers, text }: Response) {
  const { date: _, 'x-request-id': requestId, ratelimit: __, ...others } = headers as Record<string, string>;
  return { status, headers: others, text: text?.replaceAll(requestId!, 'the id') };
}

const words = '?include=words';
const requests: [string, string, string, Record<string, string>][] = [
  ['get', 'the session', '', {}],
  ['head', 'the session', '', {}],
  ['get', 'the transcript', '/transcript', {}],
  ['head', 'the transcript', '/transcript', {}],
  ['get', 'its words', `/transcript${words}`, {}],
  ['get', 'captions', '/transcript', { Accept: 'text/vtt' }],
  ['get', 'subtitles', '/transcript', { Accept: 'application/x-subrip' }],
  ['get', 'plain text', '/transcript', { Accept: 'text/plain' }],
  ['get', 'whatever changed', '/transcript', { 'If-None-Match': '*' }],
  ['get', 'the transcript once it is final', '/transcript?wait=30', {}],
  ['head', 'the transcript once it is final', '/transcript?wait=30', {}],
  ['get', 'captions once they are there', '/transcript?wait=30', { Accept: 'text/vtt' }],
];

describe.each(statuses)('another account asks for a %s session', (status) => {
  // No wait is over before this clock moves.
  beforeEach(() => holdTheClock('timeouts', 'performance'));
  afterEach(() => jest.useRealTimers());

  test.each(requests)('%s %s → the 404 of an unknown or a deleted one, at once', async (method, _, path, headers) => {
    const { id } = sessions.get(status)!;
    const ask = async (of: string) => {
      const answer = await service
        .request(method as 'get', `/v1/sessions/${of}${path}`, stranger.key)
        .set(headers)
        .expect(404);
      return visible(answer);
    };
    const [unknown, ...others] = await Promise.all([randomUUIDv7(), id, id.toUpperCase(), deleted.id].map(ask));
    for (const other of others) expect(other).toEqual(unknown);
  });
});

test("the owner's cursor, or one made by hand for an owner's session → only the stranger's own sessions", async () => {
  const own = await makeSession(service.db, stranger.id, { createdAt: '2020-01-01T00:00:00Z' });
  const { body } = await service.get('/v1/sessions?limit=1', owner.key).expect(200);
  const { id } = sessions.get('completed')!;
  const byHand = encodeCursor({ createdAt: '2026-11-20T14:00:00.000000Z', id }, {});
  for (const cursor of [(body as { nextCursor: string }).nextCursor, byHand]) {
    const page = await service.get(`/v1/sessions?cursor=${cursor}`, stranger.key).expect(200);
    expect((page.body as { items: { id: string }[] }).items.map((item) => item.id)).toEqual([own.id]);
  }
});

test('the Idempotency-Key of another account → as if it were new, for the same file and for another', async () => {
  const [audio, other] = [await tone(300), await tone(300, 500)];
  const send = (account: TestAccount, key: string, content: Buffer) =>
    service
      .post('/v1/transcriptions', account.key)
      .set({ 'Content-Type': formType, 'Idempotency-Key': key })
      .send(form(filePart(content)))
      .expect(202);
  const ids = new Set<string>();
  for (const [account, key, content] of [
    [owner, 'one', audio],
    [stranger, 'one', audio],
    [owner, 'two', audio],
    [stranger, 'two', other],
  ] as const) {
    const { body, headers } = await send(account, key, content);
    expect(headers).not.toHaveProperty('idempotency-replayed');
    ids.add((body as { sessionId: string }).sessionId).add((body as { jobId: string }).jobId);
  }
  expect(ids.size).toBe(8);
});
