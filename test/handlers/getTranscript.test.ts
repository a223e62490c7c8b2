/** GET /v1/sessions/{id}/transcript: each status, each format, tags, search. Waiting is in test/src/api/reads/waits.test.ts. */
import { reportProgressIfProcessing } from '../../db/sessions/attempts.ts';
import { useAccount, useService } from '../support/service/use-service.ts';
import { saySession } from '../support/service/said.ts';
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

const read = (status: string, query = '') =>
  service.get(`/v1/sessions/${session[status]}/transcript${query}`, account.key).buffer(true);

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

const vtt = 'WEBVTT\n\n00:00:00.120 --> 00:00:03.480\ngood morning\n\n00:00:03.900 --> 00:00:06.950\nbegin\n';
const srt = '1\r\n00:00:00,120 --> 00:00:03,480\r\ngood morning\r\n\r\n2\r\n00:00:03,900 --> 00:00:06,950\r\nbegin\r\n';
test.each([
  ['json', 'application/json', expect.stringMatching(/^\{/)],
  ['vtt', 'text/vtt; charset=utf-8', vtt],
  ['srt', 'application/x-subrip; charset=utf-8', srt],
  ['txt', 'text/plain; charset=utf-8', 'good morning\nbegin\n'],
  [
    ...['md', 'text/markdown; charset=utf-8'],
    expect.stringMatching(/^# Private title\n\n\d{4}-\d\d-\d\d, 0:00:07\n\n\*\*0:00:00\*\* good morning begin\n$/),
  ],
])('format=%s → what it says, whatever Accept says; Accept alone → the same with the same tag', async (...row) => {
  const [format, type, expected] = row;
  const { text, headers } = await read('completed', `?format=${format}`).set('Accept', 'image/png').expect(200);
  expect([headers['content-type'], text]).toEqual([type, expected]);
  const byAccept = await read('completed').set('Accept', type!.split(';')[0]!).expect(200);
  expect(text).toBe(byAccept.text);
  for (const name of ['content-type', 'etag', 'vary']) expect(headers[name]).toBe(byAccept.headers[name]);
});

test.each<[string, string, number, string, string | undefined]>([
  ['completed', 'image/png', 406, 'not_acceptable', undefined],
  ['queued', 'text/html;q=0.5', 406, 'not_acceptable', undefined],
  ['queued', 'text/vtt', 409, 'transcript_not_ready', '2'],
  ['failed', 'text/vtt', 409, 'transcription_failed', undefined],
])('a session that is %s, Accept: %s → %i %s as problem+json', async (status, accept, code, name, retryAfter) => {
  const { body, headers } = await read(status).set('Accept', accept).set('If-None-Match', '*').expect(code);
  expect(body).toMatchObject({ code: name, ...(retryAfter !== undefined && { retryAfterSeconds: 2 }) });
  expect(headers).toMatchObject({ 'content-type': 'application/problem+json', 'cache-control': 'no-store' });
  expect(headers).not.toHaveProperty('etag');
  expect(headers['retry-after']).toBe(retryAfter);
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

test('a transcript that is deleted while it is asked for → 404, not silence', async () => {
  const { id } = await makeSession(service.db, account.id, { status: 'completed' });
  await service.db.deleteFrom('transcripts').where('session_id', '=', id).execute();
  const { body, headers } = await service.get(`/v1/sessions/${id}/transcript`, account.key).expect(404);
  expect(body).toMatchObject({ code: 'session_not_found' });
  expect(headers).not.toHaveProperty('etag');
});

describe('q → the segments that hold what was asked for', () => {
  const texts = [
    'Good morning',
    'the budgets first',
    'nothing here',
    'a budget of the northern',
    'lights and a budget',
  ];

  async function search(id: string, q: string, more = '') {
    const path = `/v1/sessions/${id}/transcript?q=${encodeURIComponent(q)}${more}`;
    const { body } = await service.get(path, account.key).expect(200);
    return (body as { segments: { index: number; words?: object[] }[] }).segments;
  }

  test('the segments with any of the words or phrases, and none that is excluded, with their own index', async () => {
    const id = await saySession(service.db, account.id, texts, { language: 'en', title: 'Nothing' });
    for (const [q, indexes] of [
      ['budget', [1, 3, 4]],
      ['budget morning', [0, 1, 3, 4]],
      ['"northern lights"', [3]],
      ['budget -lights', [1, 3]],
      ['midnight', []],
      ['-budget', []],
      ['🙂', []],
    ] as const)
      expect({ q, found: (await search(id, q)).map(({ index }) => index) }).toEqual({ q, found: indexes });
    expect(await search(id, 'morning', '&include=words')).toEqual([
      { index: 0, startMs: 0, endMs: 900, text: 'Good morning', words: [] },
    ]);
  });

  test('captions and texts → of the segments that were found alone', async () => {
    const id = await saySession(service.db, account.id, ['Good morning', 'The budget', 'Good night'], {
      language: 'en',
    });
    const path = `/v1/sessions/${id}/transcript?q=good`;
    const { text } = await service.get(`${path}&format=txt`, account.key).buffer(true).expect(200);
    expect(text).toBe('Good morning\nGood night\n');
    const { text: none } = await service.get(`${path}%20-good`, account.key).set('Accept', 'text/vtt').buffer(true);
    expect(none).toBe('WEBVTT\n');
  });

  test('its ETag tells what was found: 304 while that is the same, another one for another q', async () => {
    const id = await saySession(service.db, account.id, texts, { language: 'en' });
    const ask = (q: string, tag = 'W/"none"') =>
      service.get(`/v1/sessions/${id}/transcript${q}`, account.key).set('If-None-Match', tag);
    const queries = ['', '?q=budget', '?q=morning', '?q=midnight'];
    const answers = await Promise.all(queries.map((q) => ask(q).expect(200)));
    const tags = answers.map(({ headers }) => (headers as Record<string, string>)['etag']);
    expect(new Set(tags).size).toBe(4);
    await ask('?q=budget', tags[1]).expect(304);
    await ask('?q=budgets', tags[1]).expect(304);
    await ask('?q=budget', tags[0]).expect(200);
  });
});
