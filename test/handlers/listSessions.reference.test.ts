/** GET /v1/sessions?reference=…: sessions by the client's own identifier. */
import { makeAccount } from '../support/service/accounts.ts';
import { makeSession } from '../support/service/sessions.ts';
import { useService } from '../support/service/use-service.ts';
import type { Schema } from '../../codegen/operations.ts';

const service = await useService();

type Filters = Record<string, string | string[]>;

async function list(key: string, filters: Filters): Promise<Schema<'SessionPage'>> {
  const query = Object.entries(filters).flatMap(([name, values]) => [values].flat().map((value) => [name, value]));
  return (await service.get(`/v1/sessions?${new URLSearchParams(query as [string, string][])}`, key).expect(200)).body;
}

const ids = ({ items }: Schema<'SessionPage'>) => items.map(({ id }) => id);

test('sessions that were uploaded with it, and of the same account → found, with every other filter, page by page', async () => {
  const [account, other] = [await makeAccount(service.db), await makeAccount(service.db)];
  const reference = 'TICKET-4711 / ü';
  await makeSession(service.db, other.id, { reference });
  for (const unlike of [undefined, 'ticket-4711 / ü', 'TICKET-4711', '%']) {
    await makeSession(service.db, account.id, unlike === undefined ? {} : { reference: unlike });
  }
  const made: string[] = [];
  for (const status of ['completed', 'queued', 'failed', 'completed'] as const)
    made.unshift((await makeSession(service.db, account.id, { reference, status, title: `It ${status}` })).id);
  expect(ids(await list(account.key, { reference }))).toEqual(made);
  const seen: string[] = [];
  for (let cursor: string | undefined, page; page === undefined || cursor !== undefined;) {
    page = await list(account.key, { reference, limit: '1', ...(cursor !== undefined && { cursor }) });
    seen.push(...ids(page));
    cursor = page.nextCursor;
  }
  expect(seen).toEqual(made);
  expect(ids(await list(account.key, { reference, status: ['failed', 'queued'] }))).toEqual([made[1], made[2]]);
  expect(ids(await list(account.key, { reference, q: 'it completed' }))).toEqual([made[0], made[3]]);
  const [newest] = (await list(account.key, { reference, limit: '1' })).items;
  const older = await list(account.key, { reference, createdBefore: newest!.createdAt });
  expect(ids(older)).toEqual(made.slice(1));
});

test.each(['', '%00', 'a%0Ab', '%7F', 'x'.repeat(256)])('%j → 400 that names it', async (reference) => {
  const { key } = await makeAccount(service.db);
  const { body } = await service.get(`/v1/sessions?reference=${reference}`, key).expect(400);
  expect(body).toMatchObject({ code: 'invalid_request', errors: [{ in: 'query', name: 'reference' }] });
});
