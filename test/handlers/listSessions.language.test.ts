/** GET /v1/sessions?language=…: sessions by the first part of their language. */
import { makeAccount } from '../support/service/accounts.ts';
import { makeSession, silence, twoSegments } from '../support/service/sessions.ts';
import { useService } from '../support/service/use-service.ts';
import type { Schema } from '../../codegen/operations.ts';

const service = await useService();

type Filters = Record<string, string>;

async function list(key: string, filters: Filters): Promise<Schema<'SessionPage'>> {
  return (await service.get(`/v1/sessions?${new URLSearchParams(filters)}`, key).expect(200)).body;
}

const ids = ({ items }: Schema<'SessionPage'>) => items.map(({ id }) => id);

test('sessions in a language, asked for or found, and of the same account → found, with every other filter, page by page', async () => {
  const [account, other] = [await makeAccount(service.db), await makeAccount(service.db)];
  const transcript = { ...twoSegments, language: 'de' };
  await makeSession(service.db, other.id, { language: 'de' });
  for (const unlike of [{}, { language: 'en' }, { language: 'dsb' }, { status: 'completed' as const }])
    await makeSession(service.db, account.id, unlike);
  const made: string[] = [];
  for (const like of [
    { language: 'de', reference: 'a' },
    { status: 'completed' as const, transcript, reference: 'a' },
    { language: 'de-AT', status: 'failed' as const },
    { status: 'completed' as const, transcript: { ...silence, language: 'de-CH' } },
    { language: 'de', status: 'processing' as const },
  ])
    made.unshift((await makeSession(service.db, account.id, like)).id);
  const [processing, silent, failed, completed, queued] = made;
  expect(ids(await list(account.key, { language: 'de' }))).toEqual(made);
  expect(ids(await list(account.key, { language: 'DEU' }))).toEqual(made);
  const seen: string[] = [];
  for (let cursor: string | undefined, page; page === undefined || cursor !== undefined;) {
    page = await list(account.key, { language: 'de', limit: '2', ...(cursor !== undefined && { cursor }) });
    seen.push(...ids(page));
    cursor = page.nextCursor;
  }
  expect(seen).toEqual(made);
  expect(ids(await list(account.key, { language: 'de', status: 'failed' }))).toEqual([failed]);
  expect(ids(await list(account.key, { language: 'de', status: 'queued,processing' }))).toEqual([processing, queued]);
  expect(ids(await list(account.key, { language: 'de', reference: 'a' }))).toEqual([completed, queued]);
  expect(ids(await list(account.key, { language: 'de', q: 'good morning' }))).toEqual([completed]);
  expect(ids(await list(account.key, { language: 'fr', q: 'good morning' }))).toEqual([]);
  expect(ids(await list(account.key, { language: 'fr' }))).toEqual([]);
  const { createdAt } = (await list(account.key, { language: 'de', limit: '1' })).items[0]!;
  expect(ids(await list(account.key, { language: 'de', createdBefore: createdAt }))).toEqual(made.slice(1));
  expect(silent).toBeDefined();
});

test.each(['', 'e', 'en-GB', 'xx-klingon', 'germ', '%00e', 'дe', 'de,en', 'de&language=en'])(
  '%j → 400 that names it',
  async (language) => {
    const { key } = await makeAccount(service.db);
    const { body } = await service.get(`/v1/sessions?language=${language}`, key).expect(400);
    expect(body).toMatchObject({ code: 'invalid_request', errors: [{ in: 'query', name: 'language' }] });
  },
);
