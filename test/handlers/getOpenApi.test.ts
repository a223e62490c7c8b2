import { readFileSync } from 'node:fs';
import { useService } from '../support/service/use-service.ts';

const document = readFileSync(new URL('../../codegen/openapi.json', import.meta.url), 'utf8');
const service = await useService();

test.each(['/v1/openapi.json', '/openapi.json', '/openapi.json?v=1&v=2&__proto__=x'])(
  'GET %s without a key → the contract, byte for byte',
  async (path) => {
    const response = await service.get(path).buffer(true).expect(200);
    expect(response.text).toBe(document);
    expect(response.headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'public, max-age=300',
      'x-content-type-options': 'nosniff',
    });
    expect(response.headers).not.toHaveProperty('ratelimit');
    expect(response.headers).not.toHaveProperty('x-powered-by');
  },
);
