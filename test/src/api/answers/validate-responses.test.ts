import { makeSession, twoSegments } from '../../../support/service/sessions.ts';
import { useAccount, useService } from '../../../support/service/use-service.ts';

const service = await useService({ env: { VALIDATE_RESPONSES: '1' } });
const account = await useAccount(service);

test('VALIDATE_RESPONSES=1, an answer that conforms → goes out as it is', async () => {
  const session = await makeSession(service.db, account.id, { status: 'completed' });
  const path = `/v1/sessions/${session.id}`;
  expect((await service.get(path, account.key).expect(200)).body).toMatchObject({ id: session.id });
  await service.request('head', path, account.key).expect(200);
  await service.get(`${path}/transcript?include=words`, account.key).expect(200);
  await service.get(path).expect(401);
  await service.get('/v1/nothing').expect(404);
});

test('VALIDATE_RESPONSES=1, an answer that breaks the contract → logged, and 500 says what is wrong', async () => {
  const session = await makeSession(service.db, account.id, { title: 'x'.repeat(300) });
  const { body } = await service.get(`/v1/sessions/${session.id}`, account.key).expect(500);
  expect(body).toMatchObject({
    code: 'internal_error',
    detail: expect.stringContaining('must NOT have more than 255'),
  });
  expect(service.logLines.filter((line) => line.includes('an answer breaks the contract'))).toHaveLength(1);
});

test('the problem in the place of an answer → keeps the allowance, and nothing that the answer said of itself', async () => {
  const transcript = { ...twoSegments, segments: '[{"index":-1,"text":"x"}]' };
  const session = await makeSession(service.db, account.id, { status: 'completed', transcript });
  const { headers } = await service.get(`/v1/sessions/${session.id}/transcript`, account.key).expect(500);
  expect(headers).toMatchObject({ 'content-type': 'application/problem+json', 'cache-control': 'no-store' });
  expect(headers).toHaveProperty('ratelimit');
  expect(headers).not.toHaveProperty('etag');
});
