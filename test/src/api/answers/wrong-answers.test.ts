/** An answer that breaks the contract (`test/support/clients/checked-answers.ts`) fails as any other fault does. */
import { makeSession, twoSegments } from '../../../support/service/sessions.ts';
import { useAccount, useService } from '../../../support/service/use-service.ts';

const service = await useService();
const account = await useAccount(service);

test('the problem in the place of an answer → keeps the allowance, and nothing that the answer said of itself', async () => {
  const transcript = { ...twoSegments, segments: '[{"index":-1,"text":"x"}]' };
  const session = await makeSession(service.db, account.id, { status: 'completed', transcript });
  const { headers } = await service.get(`/v1/sessions/${session.id}/transcript`, account.key).expect(500);
  expect(headers).toMatchObject({ 'content-type': 'application/problem+json', 'cache-control': 'no-store' });
  expect(headers).toHaveProperty('ratelimit');
  expect(headers).not.toHaveProperty('etag');
});
