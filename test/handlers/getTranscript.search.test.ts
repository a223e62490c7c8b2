/** `GET /sessions/{id}/transcript?q=…`: the segments that hold what was asked for. */
import { saySession } from '../support/service/said.ts';
import { makeSession } from '../support/service/sessions.ts';
import { useAccount, useService } from '../support/service/use-service.ts';

const service = await useService();
const account = await useAccount(service);

const texts = ['Good morning', 'the budgets first', 'nothing here', 'a budget of the northern', 'lights and a budget'];

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

test('a session without a transcript → no segments', async () => {
  const { id } = await makeSession(service.db, account.id, { status: 'failed', title: 'budget' });
  expect(await search(id, 'budget')).toEqual([]);
});

test('captions and texts → of the segments that were found alone', async () => {
  const id = await saySession(service.db, account.id, ['Good morning', 'The budget', 'Good night'], { language: 'en' });
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
