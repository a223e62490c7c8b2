/** GET /v1/sessions/{id}/transcript: each status, each format, tags. Waiting is in test/src/api/reads/waits.test.ts. */
import { sql } from 'kysely';
import { reportProgressIfProcessing } from '../../db/sessions/attempts.ts';
import { useAccount, useService } from '../support/service/use-service.ts';
import {
  claimSession,
  finishSession,
  makeSession,
  queueSession,
  silence,
  twoSegments,
} from '../support/service/sessions.ts';

/** One session of each status. */
const session: Record<string, string> = {};
const service = await useService();
const account = await useAccount(service);
beforeAll(async () => {
  for (const status of ['queued', 'processing', 'completed', 'failed'] as const) {
    const made = await makeSession(service.db, account.id, { status, title: 'Private title', durationMs: 9_000 });
    session[status] = made.id;
  }
  session.silent = (await makeSession(service.db, account.id, { status: 'completed', transcript: silence })).id;
});

const read = (status: string, query = '', key = account.key) =>
  service.get(`/v1/sessions/${session[status]}/transcript${query}`, key).buffer(true);

const segments = JSON.parse(twoSegments.segments) as object[];
const words = JSON.parse(twoSegments.words) as object[][];

test.each<[string, string, object]>([
  ['queued', '', { status: 'queued', durationMs: 9_000, segments: [] }],
  ['processing', '', { status: 'processing', durationMs: 9_000, segments: [] }],
  ['completed', '', { status: 'completed', durationMs: 7_100, language: 'en-US', segments }],
  [
    'completed',
    '?include=words',
    {
      ...{ status: 'completed', durationMs: 7_100, language: 'en-US' },
      segments: segments.map((segment, i) => ({ ...segment, words: words[i] })),
    },
  ],
  ['silent', '', { status: 'completed', durationMs: 7_100, language: 'en-US', segments: [] }],
  [
    'failed',
    '',
    {
      ...{ status: 'failed', durationMs: 9_000, segments: [] },
      error: { code: 'unsupported_media', message: 'The audio could not be decoded.' },
    },
  ],
])('a session that is %s, JSON %s → 200 with exactly its fields', async (status, query, expected) => {
  const { body, headers, text } = await read(status, query).expect(200);
  expect(body).toEqual({ sessionId: session[status], ...expected });
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'cache-control': 'private, no-cache',
    vary: 'Accept, Accept-Encoding, Authorization',
  });
  expect(headers['retry-after']).toBe(status === 'queued' || status === 'processing' ? '2' : undefined);
  expect(text).not.toMatch(/Private|null/);
  expect(text).not.toContain(account.id);
});

describe('ETag', () => {
  const formats: [string, string][] = [
    ['application/json', ''],
    ['application/json', '?include=words'],
    ['text/vtt', ''],
    ['application/x-subrip', ''],
    ['text/plain', ''],
  ];
  const tagOf = async (status: string, accept = 'application/json', query = '') =>
    String((await read(status, query).set('Accept', accept).expect(200)).headers.etag);

  test('each format and status → a tag of its own, the same each time', async () => {
    const all = async () =>
      Promise.all([
        ...formats.map(([accept, query]) => tagOf('completed', accept, query)),
        ...['queued', 'processing', 'failed', 'silent'].map((status) => tagOf(status)),
      ]);
    const tags = await all();
    expect(new Set(tags).size).toBe(tags.length);
    expect(await all()).toEqual(tags);
    expect(tags.every((tag) => tag.startsWith('W/"'))).toBe(true);
  });

  test('the message of a failed session changes → another tag', async () => {
    const { id } = await makeSession(service.db, account.id, { status: 'failed' });
    session.changing = id;
    const before = await tagOf('changing');
    await sql`update sessions set known_languages = 'en, de' where id = ${id}`.execute(service.db);
    expect(await tagOf('changing')).not.toBe(before);
    await read('changing').set('If-None-Match', before).expect(200);
  });

  test('a tag of a running session → 304 with Retry-After until something changes', async () => {
    const made = await queueSession(service.db, account.id);
    session.changing = made.id;
    const seen: string[] = [];
    const expectNewTag = async () => {
      const tag = await tagOf('changing');
      expect(seen).not.toContain(tag);
      seen.push(tag);
      return read('changing').set('If-None-Match', tag).expect(304);
    };
    expect((await expectNewTag()).headers['retry-after']).toBe('2');
    const attempt = await claimSession(service.db, made);
    expect((await expectNewTag()).headers['retry-after']).toBe('2');
    await reportProgressIfProcessing(service.db, new Map([[attempt, 50]]));
    expect((await expectNewTag()).headers['retry-after']).toBe('2');
    await finishSession(service.db, made, attempt);
    expect((await expectNewTag()).headers).not.toHaveProperty('retry-after');
  });
});

test.each([
  ['application/json', ''],
  ['application/json', '?include=words'],
  ['text/vtt', ''],
])('a transcript that is deleted while it is asked for (%s%s) → 404, not silence', async (accept, query) => {
  const { id } = await makeSession(service.db, account.id, { status: 'completed' });
  await service.db.deleteFrom('transcripts').where('session_id', '=', id).execute();
  const { body, headers } = await service
    .get(`/v1/sessions/${id}/transcript${query}`, account.key)
    .set('Accept', accept)
    .expect(404);
  expect(body).toMatchObject({ code: 'session_not_found' });
  expect(headers).not.toHaveProperty('etag');
});
