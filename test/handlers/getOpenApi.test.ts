import { readFileSync } from 'node:fs';
import { useService } from '../support/service/use-service.ts';

const document = readFileSync(new URL('../../codegen/openapi.json', import.meta.url), 'utf8');
const service = await useService();

test.each(['/v1/openapi.json', '/openapi.json'])('GET %s without a key → the contract, byte for byte', async (path) => {
  const response = await service.get(path).buffer(true).expect(200);
  expect(response.text).toBe(document);
  expect(response.headers).toMatchObject({
    'content-type': 'application/json',
    'cache-control': 'public, max-age=300',
    'x-content-type-options': 'nosniff',
  });
  expect(response.headers).not.toHaveProperty('ratelimit');
  expect(response.headers).not.toHaveProperty('x-powered-by');
});

test('GET /openapi.json with its ETag → 304 without a body', async () => {
  const { headers } = await service.get('/openapi.json').expect(200);
  const again = await service.get('/openapi.json').set('If-None-Match', `"other", ${headers.etag}`).expect(304);
  expect(again.text).toBe('');
});

test.each(['/openapi.json?v=1', '/v1/openapi.json?v=1&v=2&__proto__=x'])(
  'GET %s, to get past a cache → the contract',
  async (path) => {
    const { text } = await service.get(path).buffer(true).expect(200);
    expect(text).toBe(document);
  },
);
