/** Paths, methods and queries that no client of ours would send. */
import { contract } from '../../../../src/api/contract/document.ts';
import { rawRequest } from '../../../support/clients/raw-http.ts';
import { useAccount, useService } from '../../../support/service/use-service.ts';

const service = await useService();
const account = await useAccount(service);

const id = '01a1f89b-f1a2-7605-ae51-71a046f5ee3c';
const raw = (method: string, target: string) =>
  rawRequest(service.api.port, method, target, [`Authorization: Bearer ${account.key}`]);

test.each([
  '/v1/Sessions',
  '//v1/sessions',
  '/v1/sessions%00',
  `/v1/sessions/${id}/transcript/`,
  '/%',
  '/__proto__',
  '/metrics',
])('GET %s → 404 route_not_found without asking for a key', async (target) => {
  const { status, headers, text } = await raw('GET', target);
  expect(status).toBe(404);
  expect(JSON.parse(text)).toMatchObject({ code: 'route_not_found', requestId: headers['x-request-id'] });
  expect(headers).not.toHaveProperty('ratelimit');
  expect(text).not.toMatch(/passwd|node_modules|\.ts:/);
});

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];
const paths = Object.entries<object>(contract.paths!).map(([path, operations]) => {
  const declared = methods.filter((method) => method.toLowerCase() in operations);
  const allowed = declared.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return { target: `/v1${path.replace('{id}', id)}`, allowed };
});

test.each([
  ...paths.flatMap(({ target, allowed }) =>
    methods.filter((method) => !allowed.includes(method)).map((method) => [method, target, allowed.join(', ')]),
  ),
  ['DELETE', '/openapi.json', 'GET, HEAD'],
])('%s %s → 405 with Allow: %s', async (method, target, allow) => {
  const { status, headers, text } = await raw(method, target);
  expect(status).toBe(405);
  expect(headers.allow).toBe(allow);
  expect(headers).not.toHaveProperty('ratelimit');
  expect(headers).not.toHaveProperty('access-control-allow-origin');
  if (method !== 'HEAD') expect(JSON.parse(text)).toMatchObject({ code: 'method_not_allowed' });
});

test.each([
  ['/sessions', '/v1/sessions'],
  [`/v2/sessions/${id}/`, '/v1/sessions/{id}'],
  ['/v1/session', undefined],
])('GET %s → 404 that names %s', async (target, meant) => {
  const { detail } = JSON.parse((await raw('GET', target)).text) as { detail: string };
  expect(detail).toBe(`There is nothing at this path.${meant === undefined ? '' : ` Is ${meant} meant?`}`);
});

test.each(['OPTIONS', 'GET'])('%s * → 404', async (method) => {
  expect((await raw(method, '*')).status).toBe(404);
});

test.each([
  ['absolute form', 'http://elsewhere.example/v1/sessions?limit=1'],
  ['empty parts of a query', '/v1/sessions?&&limit=1&'],
  ['encoded names and values', '/v1/sessions?%6Cimit=%31'],
])('GET with %s → 200', async (_, target) => {
  const { status, text } = await raw('GET', target);
  expect(status).toBe(200);
  expect(JSON.parse(text)).toEqual({ items: [] });
});

test.each([
  ['/v1/sessions', 200],
  ['/v1/sessions?page=1', 400],
  ['/v1/nothing', 404],
])('HEAD %s → %i with the headers of GET and no body', async (target, status) => {
  const [get, head] = [await raw('GET', target), await raw('HEAD', target)];
  expect(head.status).toBe(status);
  expect(head.text).toBe('');
  const { date: _, 'x-request-id': __, ratelimit: ___, ...expected } = get.headers;
  expect(head.headers).toMatchObject(expected);
});

describe('a query that the contract does not know → 400 that names what is wrong', () => {
  test.each<[string, string, string]>([
    ['page=1', 'page', 'is not known'],
    ['__proto__=1&__proto__=2', '__proto__', 'is not known'],
    ['a%0d%0ab%1b%e2%80%ae=1', 'a\ufffd\ufffdb\ufffd\ufffd', 'is not known'],
    ['limit=1&limit=2', 'limit', 'is repeated'],
    ['limit=', 'limit', 'must be integer'],
    ['q=', 'q', 'must not be empty'],
    ['status=done', 'status', 'must be one of queued, processing, completed, failed'],
    ['language=en-US', 'language', 'must be the first part of a language tag, such as en'],
    ['cursor=a.b', 'cursor', 'has a wrong character'],
    ['createdAfter=yesterday', 'createdAfter', 'must be a time such as 2026-11-20T09:30:00Z; a + is written %2B'],
  ])('?%s → %j %s', async (query, name, message) => {
    const { status, headers, text } = await raw('GET', `/v1/sessions?${query}`);
    expect(status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({ code: 'invalid_request', errors: [{ in: 'query', name, message }] });
    expect(headers).toHaveProperty('ratelimit');
    expect(text).not.toMatch(/node_modules|\.ts:|ajv/i);
  });

  test('several faults → each named once', async () => {
    const { text } = await raw('GET', '/v1/sessions?limit=0&page=1&status=a&status=b&createdAfter=x');
    const { errors } = JSON.parse(text) as { errors: { name: string }[] };
    expect(errors.map(({ name }) => name).sort()).toEqual(['createdAfter', 'limit', 'page', 'status']);
  });

  test('hundreds of unknown names → 400 with at most 20 of them, none longer than 100 characters', async () => {
    const query = Array.from({ length: 60 }, (_, i) => `${'x'.repeat(150)}${i}=1`).join('&');
    const { status, text } = await raw('GET', `/v1/sessions?${query}`);
    expect(status).toBe(400);
    const { errors } = JSON.parse(text) as { errors: { name: string }[] };
    expect(errors).toHaveLength(20);
    expect(errors.every(({ name }) => name.length <= 100)).toBe(true);
  });
});

test.each([`${id}%00`, '..%2f..%2fetc%2fpasswd', '%', '%ff'])('the session id %s → 400 that names it', async (text) => {
  const answer = await raw('GET', `/v1/sessions/${text}`);
  const fault = { in: 'path', name: 'id', message: 'must be a UUID' };
  expect(answer.status).toBe(400);
  expect(JSON.parse(answer.text)).toMatchObject({ code: 'invalid_request', errors: [fault] });
});

test.each([
  ['/v1/%73essions', 200],
  ['/%76%31/sessions', 200],
  [`/v1/sessions/${id.replaceAll('-', '%2D')}`, 404],
])('GET %s → as with its letters not encoded (RFC 3986, section 6.2.2.2)', async (target, expected) => {
  const { status, text } = await raw('GET', target);
  expect(status).toBe(expected);
  if (expected === 404) expect(JSON.parse(text)).toMatchObject({ code: 'session_not_found' });
});

test('a query → decoded once, as it was sent', async () => {
  const { status, text } = await raw('GET', '/v1/%73essions?reference=%2541');
  expect([status, JSON.parse(text)]).toEqual([200, { items: [] }]);
  expect((await raw('GET', '/v1/%73essions?%6cimit=0')).status).toBe(400);
});
