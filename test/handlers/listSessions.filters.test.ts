/** GET /v1/sessions?reference=… and ?language=…: with every other filter, page by page, and of the same account only. */
import { makeAccount } from '../support/service/accounts.ts';
import { makeSession, silence, twoSegments } from '../support/service/sessions.ts';
import { useService } from '../support/service/use-service.ts';
import type { Schema } from '../../codegen/operations.ts';
import type { TestAccount } from '../support/service/accounts.ts';

const service = await useService();
const [reference, german] = ['TICKET-4711 / ü', { ...twoSegments, language: 'de' }];
type Options = Parameters<typeof makeSession>[2];

async function list({ key }: TestAccount, query: Record<string, string>): Promise<Schema<'SessionPage'>> {
  return (await service.get(`/v1/sessions?${new URLSearchParams(query)}`, key).expect(200)).body;
}

const ids = ({ items }: Schema<'SessionPage'>) => items.map(({ id }) => id);

/** The places of those that were made, the last one first. */
type Found = [query: Record<string, string>, places: number[]];

test.each<[string, Record<string, string>, Options[], Options[], Found[]]>([
  [
    'a reference → exactly those that were uploaded with it',
    { reference },
    [{}, { reference: 'ticket-4711 / ü' }, { reference: 'TICKET-4711' }, { reference: '%' }],
    (['completed', 'queued', 'failed', 'completed'] as const).map((status) => ({ reference, status, title: status })),
    [
      [{ status: 'failed,queued' }, [1, 2]],
      [{ q: 'completed' }, [0, 3]],
    ],
  ],
  [
    'a language → those that asked for it, or in which it was found',
    { language: 'DEU' },
    [{}, { language: 'en' }, { language: 'dsb' }, { status: 'completed' }],
    [
      { language: 'de', reference },
      { status: 'completed', transcript: german, reference },
      { language: 'de-AT', status: 'failed' },
      { status: 'completed', transcript: { ...silence, language: 'de-CH' } },
      { language: 'de', status: 'processing' },
    ],
    [
      [{ status: 'failed' }, [2]],
      [{ status: 'queued,processing' }, [0, 4]],
      [{ reference }, [3, 4]],
      [{ q: 'good morning' }, [3]],
      [{ language: 'fr', q: 'good morning' }, []],
      [{ language: 'fr' }, []],
    ],
  ],
])('%s', async (_, filter, unlike, like, narrower) => {
  const [account, other] = [await makeAccount(service.db), await makeAccount(service.db)];
  await makeSession(service.db, other.id, { language: 'de', reference });
  for (const options of unlike) await makeSession(service.db, account.id, options);
  const made: string[] = [];
  for (const options of like) made.unshift((await makeSession(service.db, account.id, options)).id);
  expect(ids(await list(account, filter))).toEqual(made);
  for (const [query, places] of narrower) {
    const found = ids(await list(account, { ...filter, ...query }));
    expect({ query, found }).toEqual({ query, found: places.map((place) => made[place]) });
  }
  const seen: string[] = [];
  for (let cursor: string | undefined, page; page === undefined || cursor !== undefined;) {
    page = await list(account, { ...filter, limit: '2', ...(cursor !== undefined && { cursor }) });
    seen.push(...ids(page));
    cursor = page.nextCursor;
  }
  expect(seen).toEqual(made);
  const { createdAt } = (await list(account, { ...filter, limit: '1' })).items[0]!;
  expect(ids(await list(account, { ...filter, createdBefore: createdAt }))).toEqual(made.slice(1));
});

test.each([
  ...['', '%00', 'a%0Ab', '%7F'].map((value) => ['reference', value]),
  ...['', 'en-GB', '%00e', 'дe', 'de,en', 'de&language=en'].map((value) => ['language', value]),
])('%s=%s → 400 that names it', async (name, value) => {
  const { key } = await makeAccount(service.db);
  const { body } = await service.get(`/v1/sessions?${name}=${value}`, key).expect(400);
  expect(body).toMatchObject({ code: 'invalid_request', errors: [{ in: 'query', name }] });
});
