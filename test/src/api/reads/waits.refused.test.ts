/** GET …/transcript?wait= by a key that loses its right meanwhile. */
import { suspendAccount, updateAccount } from '../../../../db/accounts/accounts.ts';
import { revokeApiKey } from '../../../../db/accounts/api-keys.ts';
import { makeAccount } from '../../../support/service/accounts.ts';
import { queueSession } from '../../../support/service/sessions.ts';
import { useService } from '../../../support/service/use-service.ts';
import { until } from '../../../support/until.ts';
import type { TestAccount } from '../../../support/service/accounts.ts';

const service = await useService();

test.each<[string, number, string, (held: TestAccount) => Promise<unknown>]>([
  ['its key is revoked', 401, 'unauthorized', ({ keyId }) => revokeApiKey(service.db, keyId)],
  ['its account is suspended', 403, 'account_suspended', ({ id }) => suspendAccount(service.db, id)],
  ['its plan becomes free', 403, 'plan_not_eligible', ({ id }) => updateAccount(service.db, id, { plan: 'free' })],
])('%s while it waits → %i, as a new request would get, before the time is over', async (_, status, code, change) => {
  const held = await makeAccount(service.db);
  const session = await queueSession(service.db, held.id);
  const answer = service.get(`/v1/sessions/${session.id}/transcript?wait=30`, held.key).then((response) => response);
  // It was admitted when it is counted.
  const counted = service.db.selectFrom('allowance').select('used').where('account_id', '=', held.id);
  await until(() => counted.executeTakeFirst());
  await change(held);
  const response = await answer;
  expect([response.status, response.body.code]).toEqual([status, code]);
  // Only a request that was admitted carries it.
  expect(response.headers['ratelimit']).toBeDefined();
});
