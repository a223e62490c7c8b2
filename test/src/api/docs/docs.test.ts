/** `/docs` over plain HTTP: what is served, how it may be cached, and what it allows the browser. */
import { parse } from 'yaml';
import { parseAnswers, sendRaw } from '../../../support/clients/raw-http.ts';
import { useService } from '../../../support/service/use-service.ts';

const service = await useService();
/** The paths of the page's scripts. */
let scripts: string[];
beforeAll(async () => {
  const page = await (await ask('/docs')).text();
  scripts = [...page.matchAll(/<script defer src="([^"]+)">/g)].map(([, path]) => path!);
});

const ask = (path: string, options?: RequestInit) => fetch(service.url + path, { redirect: 'manual', ...options });

const policy =
  "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:; font-src 'self'; " +
  "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

test.each(['/docs', '/docs/', '/docs?from=readme', '/%64ocs'])(
  'GET %s without a key → the page with its policy',
  async (path) => {
    const response = await ask(path);
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'cache-control': 'no-cache',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'x-request-id': expect.any(String),
    });
    expect(await response.text()).not.toMatch(/https?:|<script(?! defer src="\/docs\/)/);
  },
);

test('the scripts of the page → ours, to be kept for good', async () => {
  expect(scripts).toEqual([
    expect.stringMatching(/^\/docs\/start-[0-9a-f]{16}\.js$/),
    expect.stringMatching(/^\/docs\/scalar-[0-9a-f]{16}\.js$/),
  ]);
  for (const path of scripts) {
    const response = await ask(path, { headers: { 'Accept-Encoding': 'identity' } });
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      'content-length': String((await response.bytes()).length),
    });
  }
});

test('GET /llms.txt without a key → an index of the contract; /llms-full.txt is the contract as it was written', async () => {
  const response = await ask('/llms.txt');
  expect(response.status).toBe(200);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
  });
  const text = await response.text();
  expect(text).toMatch(/^# Transcription REST API\n\n> \S/);
  const contract = JSON.parse(await (await ask('/openapi.json')).text()) as { paths: Record<string, object> };
  for (const [path, methods] of Object.entries(contract.paths))
    for (const method of Object.keys(methods)) expect(text).toContain(`- \`${method.toUpperCase()} ${path}\`: `);
  expect(text.split(/\s+/).length).toBeLessThan(200);
  for (const [, link] of text.matchAll(/\]\((.*?)\)/g)) expect((await ask(link!)).status).toBe(200);
  expect(parse(await (await ask('/llms-full.txt')).text())).toEqual(contract);
  expect((await ask('/llms.txt', { headers: { 'If-None-Match': response.headers.get('etag')! } })).status).toBe(304);
  expect((await ask('/llms.txt', { method: 'POST' })).status).toBe(405);
  expect((await ask('/llms.txt/')).status).toBe(404);
});

test('GET / → /docs', async () => {
  const { status, headers } = await ask('/');
  expect([status, headers.get('location')]).toEqual([302, '/docs']);
});

test('GET with the ETag → 304 without a body', async () => {
  for (const path of ['/docs', ...scripts]) {
    const etag = (await ask(path)).headers.get('etag')!;
    const again = await ask(path, { headers: { 'If-None-Match': `"other", ${etag}` }, cache: 'no-store' });
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
    expect((await ask(path, { headers: { 'If-None-Match': '"other"' }, cache: 'no-store' })).status).toBe(200);
  }
});

test('POST /docs → 405 with Allow', async () => {
  const response = await ask('/docs', { method: 'POST' });
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  expect(await response.json()).toMatchObject({ status: 405, code: 'method_not_allowed' });
});

test.each(['/docs/nothing', '/docs/%2e%2e/docs.ts', '/docs/__proto__', '/docs/%'])(
  'GET %s → 404 route_not_found, no file',
  async (target) => {
    const bytes = await sendRaw(service.api.port, `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    const [answer] = parseAnswers(bytes);
    expect(answer).toMatchObject({ status: 404, headers: { 'content-type': 'application/problem+json' } });
    expect(JSON.parse(answer!.text)).toMatchObject({ code: 'route_not_found' });
  },
);
