/** GET /v1/sessions: order, pages, filters, cursors, and nobody else's sessions. */
import { failSession } from '../../src/sessions/completion.ts';
import { inTransaction } from '../../db/connection/transaction.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { useService } from '../support/service/use-service.ts';
import { makeSession, queueSession, silence, twoSegments } from '../support/service/sessions.ts';
import type { Schema } from '../../codegen/operations.ts';
import type { TestAccount } from '../support/service/accounts.ts';

type Page = Schema<'SessionPage'>;

const service = await useService();

async function list(key: string, query: Record<string, string | string[] | number> = {}): Promise<Page> {
  const parameters = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((one) => [name, String(one)] as [string, string]),
  );
  const { body } = await service.get(`/v1/sessions?${new URLSearchParams(parameters)}`, key).expect(200);
  return body as Page;
}

const ids = ({ items }: Page) => items.map(({ id }) => id);

async function allPages(key: string, query: Record<string, string | string[] | number> = {}): Promise<Page['items'][]> {
  const pages: Page['items'][] = [];
  for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
    const page: Page = await list(key, { ...query, ...(cursor !== undefined && { cursor }) });
    pages.push(page.items);
    cursor = page.nextCursor;
  }
  return pages;
}

/** Sessions at these times, in this order; answers their ids. */
async function at(account: TestAccount, ...times: string[]): Promise<string[]> {
  const made: string[] = [];
  for (const createdAt of times) made.push((await queueSession(service.db, account.id, { createdAt })).id);
  return made;
}

test('sessions of every status → each with its own fields and no others, nothing of other accounts', async () => {
  const [account, other] = [await makeAccount(service.db), await makeAccount(service.db)];
  await makeSession(service.db, other.id, { title: 'Secret of another', status: 'completed' });
  const queued = await makeSession(service.db, account.id, { title: 'A', durationMs: 1_000, reservedMs: 1_000 });
  const processing = await makeSession(service.db, account.id, { title: 'B', status: 'processing', progress: 40 });
  const completed = await makeSession(service.db, account.id, { title: 'C', status: 'completed' });
  const failed = await makeSession(service.db, account.id, { title: '', status: 'failed', errorCode: 'timed_out' });

  const { body, text } = await service.get('/v1/sessions', account.key).expect(200);
  const inOrder = [failed, completed, processing, queued];
  const alone = inOrder.map(async ({ id }) => (await service.get(`/v1/sessions/${id}`, account.key)).body as unknown);
  expect(body).toEqual({ items: await Promise.all(alone) });
  expect(text).not.toMatch(/Secret|reserved|attempt|account|queue_?job|null|version/i);
});

describe('pages', () => {
  let account: TestAccount;
  let newestFirst: string[];
  beforeAll(async () => {
    account = await makeAccount(service.db);
    const base = '2026-05-01T10:00:00.00000';
    // Three at the same microsecond, so that the id decides.
    const made = await at(account, ...[1, 1, 1, 2, 3, 4, 5].map((digit) => `${base}${digit}Z`));
    newestFirst = [...made.slice(3).reverse(), ...made.slice(0, 3).sort().reverse()];
  });

  test.each([1, 3, 7, 8])('limit=%i → pages that join to the whole, the last without a cursor', async (limit) => {
    const pages = await allPages(account.key, { limit });
    expect(pages.flat().map(({ id }) => id)).toEqual(newestFirst);
    expect(pages).toHaveLength(Math.ceil(newestFirst.length / limit));
    expect(pages.slice(0, -1).every(({ length }) => length === limit)).toBe(true);
  });

  test('sessions that begin, end and disappear while the pages are read → none twice, none of the rest missing', async () => {
    const reader = await makeAccount(service.db);
    const made = [];
    for (let i = 0; i < 12; i += 1) made.push(await queueSession(service.db, reader.id));
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page: Page = await list(reader.key, { limit: 3, ...(cursor !== undefined && { cursor }) });
      seen.push(...ids(page));
      cursor = page.nextCursor;
      await queueSession(service.db, reader.id);
      const last = made.find(({ id }) => id === seen.at(-1))!;
      await inTransaction(service.db, (trx) => failSession(trx, reader.id, last.id, 'canceled'));
    } while (cursor !== undefined);
    expect(seen).toEqual(made.map(({ id }) => id).reverse());
  });

  test('exactly 100 and no more → a default of 20 and one page of 100', async () => {
    const many = await makeAccount(service.db);
    await Promise.all(Array.from({ length: 100 }, () => queueSession(service.db, many.id)));
    expect((await list(many.key)).items).toHaveLength(20);
    const page = await list(many.key, { limit: 100 });
    expect(page.items).toHaveLength(100);
    expect(page.nextCursor).toBeUndefined();
  });
});

describe('status', () => {
  let account: TestAccount;
  /** In the order of the list: the last one first. */
  const made: { id: string; status: string }[] = [];
  beforeAll(async () => {
    account = await makeAccount(service.db);
    for (const status of ['completed', 'queued', 'failed', 'processing', 'completed', 'failed', 'queued'] as const) {
      made.unshift({ id: (await makeSession(service.db, account.id, { status })).id, status });
    }
  });

  test.each<[string[]]>([
    [['completed']],
    [['completed', 'failed']],
    [['queued', 'processing', 'completed', 'failed']],
  ])('%j → sessions in these states alone, on any pages', async (status) => {
    const expected = made.filter((session) => status.includes(session.status)).map(({ id }) => id);
    expect(ids(await list(account.key, { status }))).toEqual(expected);
    const pages = await allPages(account.key, { status, limit: 1 });
    expect(pages.flat().map(({ id }) => id)).toEqual(expected);
  });

  test('separated by commas, some of them repeated as well → as if each were repeated, and the same cursor', async () => {
    const repeated = { status: ['queued', 'completed', 'failed'], limit: 1 };
    const mixed = { status: ['completed,queued', 'failed'], limit: 1 };
    const [expected, found] = [await list(account.key, repeated), await list(account.key, mixed)];
    expect(found).toEqual(expected);
    const next = await list(account.key, { status: 'failed,queued,completed', cursor: found.nextCursor! });
    expect(ids(next)).toEqual(ids(await list(account.key, { ...repeated, limit: 20 })).slice(1));
  });
});

describe('createdAfter and createdBefore', () => {
  let account: TestAccount;
  let made: string[];
  beforeAll(async () => {
    account = await makeAccount(service.db);
    made = await at(
      account,
      '2026-03-01T00:00:00.000122Z',
      '2026-03-01T00:00:00.000123Z',
      '2026-03-01T00:00:00.000124Z',
      '2026-12-31T23:59:59.999999Z',
      '2027-01-01T00:00:00Z',
    );
  });

  test.each<[string, Record<string, string>, number[]]>([
    ['after, to the microsecond, included', { createdAfter: '2026-03-01T00:00:00.000123Z' }, [1, 2, 3, 4]],
    ['before, to the microsecond, excluded', { createdBefore: '2026-03-01T00:00:00.000123Z' }, [0]],
    [
      'from a microsecond to the next',
      { createdAfter: '2026-03-01T00:00:00.000123Z', createdBefore: '2026-03-01T00:00:00.000124Z' },
      [1],
    ],
    ['the year 0000', { createdAfter: '0000-01-01T00:00:00Z' }, [0, 1, 2, 3, 4]],
  ])('%s', async (_, query, expected) => {
    const found = expected.map((index) => made[index]).reverse();
    expect(ids(await list(account.key, query))).toEqual(found);
    const pages = await allPages(account.key, { ...query, limit: 1 });
    expect(pages.flat().map(({ id }) => id)).toEqual(found);
  });
});

const [reference, german] = ['TICKET-4711 / ü', { ...twoSegments, language: 'de' }];
type Options = Parameters<typeof makeSession>[2];

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
  expect(ids(await list(account.key, filter))).toEqual(made);
  for (const [query, places] of narrower) {
    const found = ids(await list(account.key, { ...filter, ...query }));
    expect({ query, found }).toEqual({ query, found: places.map((place) => made[place]) });
  }
  const pages = await allPages(account.key, { ...filter, limit: 2 });
  expect(pages.flat().map(({ id }) => id)).toEqual(made);
  const { createdAt } = (await list(account.key, { ...filter, limit: '1' })).items[0]!;
  expect(ids(await list(account.key, { ...filter, createdBefore: createdAt }))).toEqual(made.slice(1));
});
