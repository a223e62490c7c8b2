/** Who is let in: the order of the checks, what each refusal says, and whether it counted. */
import { sql } from 'kysely';
import { suspendAccount } from '../../../../db/accounts/accounts.ts';
import { revokeApiKey } from '../../../../db/accounts/api-keys.ts';
import { newApiKey } from '../../../../src/api/access/api-key.ts';
import { makeAccount, makeKey } from '../../../support/service/accounts.ts';
import { useService } from '../../../support/service/use-service.ts';

const service = await useService();

const anyId = '01a1f89b-f1a2-7605-ae51-71a046f5ee3c';
const bearer = (key: string) => `Bearer ${key}`;
const damaged = (key: string) => `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;

async function counted(accountId: string): Promise<number> {
  const { rows } = await sql<{ used: number }>`select used from allowance where account_id = ${accountId}`.execute(
    service.db,
  );
  return rows[0]?.used ?? 0;
}

describe('a request without a valid key → 401, the same whatever is wrong with the key', () => {
  const key = async () => (await makeAccount(service.db)).key;
  const missing = 'Bearer realm="transcription"';
  const invalid = 'Bearer realm="transcription", error="invalid_token"';

  test.each<[string, string, () => Promise<string | undefined>]>([
    ['no Authorization', missing, async () => undefined],
    ['Basic', missing, async () => `Basic ${Buffer.from(`user:${await key()}`).toString('base64')}`],
    ['a malformed key', invalid, async () => 'Bearer secret'],
    ['an unknown key', invalid, async () => bearer(newApiKey())],
    [
      'an expired key',
      invalid,
      async () => {
        const { id } = await makeAccount(service.db);
        return bearer((await makeKey(service.db, id, { expiresAt: '2026-01-01T00:00:00Z' })).key);
      },
    ],
    [
      'a revoked key of a suspended account on a plan that is not eligible',
      invalid,
      async () => {
        const account = await makeAccount(service.db, { plan: 'free' });
        await suspendAccount(service.db, account.id);
        await revokeApiKey(service.db, account.keyId);
        return bearer(account.key);
      },
    ],
  ])('%s → %s', async (_, challenge, authorization) => {
    const value = await authorization();
    const request = service.get('/v1/sessions?page=1');
    const { body, headers } = await (value === undefined ? request : request.set('Authorization', value)).expect(401);
    expect(body).toEqual({
      type: 'about:blank',
      title: 'Unauthorized',
      status: 401,
      code: 'unauthorized',
      detail: expect.stringMatching(/ Send a valid API key in the header "Authorization: Bearer <API key>".$/),
      requestId: headers['x-request-id'],
    });
    expect(headers['www-authenticate']).toBe(challenge);
    expect(headers).not.toHaveProperty('ratelimit');
    expect(headers).not.toHaveProperty('ratelimit-policy');
  });

  test.each([
    ['', 'The header "Authorization" is missing.'],
    ['tsk_x', 'The header "Authorization" does not begin with "Bearer ".'],
    ['Bearer a b', 'Behind "Bearer " is no key, or more than one word.'],
    ['Bearer tsk_x', 'The API key is not valid.'],
  ])('Authorization: %j → 401 that says what is wrong with it', async (value, detail) => {
    const { body } = await service.get('/v1/sessions').set('Authorization', value).expect(401);
    expect(body.detail).toContain(detail);
  });

  test.each(['bearer', 'BEARER', 'Bearer  '])('the scheme written %j → accepted', async (scheme) => {
    await service
      .get('/v1/sessions')
      .set('Authorization', `${scheme} ${await key()}`)
      .expect(200);
  });

  test('a key in the query → 401, and it is in no log line', async () => {
    const secret = await key();
    await service.get(`/v1/sessions?access_token=${secret}`).expect(401);
    expect(service.logLines.join('')).not.toContain(secret.slice(4));
  });
});

describe('several things wrong at once → the first check decides', () => {
  const everything = {
    path: 'unknown',
    method: 'put',
    key: 'invalid',
    plan: 'free',
    suspended: true,
    allowance: 0,
    scope: 'write',
  } as const;
  type Wrong = Partial<typeof everything>;
  const { path, method, key, plan, suspended, allowance, scope } = everything;

  test.each<[string, number, string, boolean, Wrong]>([
    ['everything', 404, 'route_not_found', false, { path, method, key, plan, suspended, allowance, scope }],
    ['all but the path', 405, 'method_not_allowed', false, { method, key, plan, suspended, allowance, scope }],
    ['the key and all after it', 401, 'unauthorized', false, { key, plan, suspended, allowance, scope }],
    ['the plan and all after it', 403, 'plan_not_eligible', false, { plan, suspended, allowance, scope }],
    ['a suspended account and all after it', 403, 'account_suspended', false, { suspended, allowance, scope }],
    ['no allowance, wrong scope, wrong query', 429, 'rate_limited', true, { allowance, scope }],
    ['the scope and the query', 403, 'insufficient_scope', true, { scope }],
    ['the query alone', 400, 'invalid_request', true, {}],
  ])('%s → %i %s', async (_, status, code, showsAllowance, wrong) => {
    const limits = { requests_per_minute: wrong.allowance ?? null };
    const account = await makeAccount(service.db, { plan: wrong.plan ?? 'pro', limits });
    const { key: secret } = await makeKey(service.db, account.id, { scopes: [wrong.scope ?? 'read'] });
    if (wrong.suspended) await suspendAccount(service.db, account.id);

    const response = await service
      .request(
        wrong.method ?? 'get',
        wrong.path === undefined ? '/v1/sessions?page=1&limit=0' : '/v1/nothing?page=1',
        wrong.key === undefined ? secret : damaged(secret),
      )
      .expect(status);
    expect(response.body).toMatchObject({ status, code, requestId: response.headers['x-request-id'] });
    expect(response.headers['content-type']).toBe('application/problem+json');
    expect(response.headers['cache-control']).toBe('no-store');
    expect('ratelimit' in response.headers).toBe(showsAllowance);
    expect('ratelimit-policy' in response.headers).toBe(showsAllowance);
    expect(response.text).not.toContain(account.id);
    expect(await counted(account.id)).toBe(showsAllowance && status !== 429 ? 1 : 0);
  });
});

test.each([
  ['get', '/v1/sessions', 'read', 'write'],
  ['get', `/v1/sessions/${anyId}`, 'read', 'write'],
  ['get', `/v1/sessions/${anyId}/transcript`, 'read', 'write'],
  ['post', '/v1/transcriptions', 'write', 'read'],
] as const)(
  '%s %s → only with the scope %s, an eligible plan and no suspension',
  async (method, path, needed, other) => {
    const owner = await makeAccount(service.db);
    const { key } = await makeKey(service.db, owner.id, { scopes: [other] });
    const { body, headers } = await service.request(method, path, key).expect(403);
    expect(body).toMatchObject({ code: 'insufficient_scope', requiredScope: needed });
    const challenge = `Bearer realm="transcription", error="insufficient_scope", scope="${needed}"`;
    expect(headers['www-authenticate']).toBe(challenge);

    const [onFree, suspended] = [await makeAccount(service.db, { plan: 'free' }), await makeAccount(service.db)];
    await suspendAccount(service.db, suspended.id);
    for (const [account, code] of [
      [onFree, 'plan_not_eligible'],
      [suspended, 'account_suspended'],
    ] as const) {
      const refused = await service.request(method, path, account.key).expect(403);
      expect(refused.body).toMatchObject({ code });
      expect(refused.headers).not.toHaveProperty('www-authenticate');
    }
  },
);

test('requests of all kinds → one log line each, without key or query', async () => {
  const { key, id } = await makeAccount(service.db);
  const from = service.logLines.length;
  const ids: string[] = [];
  for (const path of [
    '/v1/sessions?status=queued',
    '/v1/sessions?private=value',
    `/v1/sessions/${anyId}`,
    '/nothing',
  ]) {
    ids.push(String((await service.get(path, key)).headers['x-request-id']));
  }
  ids.push(String((await service.get('/v1/sessions', damaged(key))).headers['x-request-id']));

  const lines = service.logLines.slice(from).map((line) => JSON.parse(line) as Record<string, unknown>);
  const requests = lines.filter(({ msg }) => msg === 'request');
  expect(requests.map(({ requestId }) => requestId)).toEqual(ids);
  expect(requests.map(({ status, operation, code, accountId }) => [status, operation, code, accountId])).toEqual([
    [200, 'listSessions', undefined, id],
    [400, 'listSessions', 'invalid_request', id],
    [404, 'getSession', 'session_not_found', id],
    [404, 'none', 'route_not_found', undefined],
    [401, 'listSessions', 'unauthorized', undefined],
  ]);
  expect(JSON.stringify(lines)).not.toMatch(/tsk_|private|queued|value/);
});
