/** Guessing keys is slow; using one is not. */
import { Agent } from 'node:http';
import { newApiKey } from '../../../../src/api/access/api-key.ts';
import { makeAccount } from '../../../support/service/accounts.ts';
import { startTestService } from '../../../support/service/service.ts';
import { until } from '../../../support/until.ts';
import type { Response } from 'supertest';
import type { TestService } from '../../../support/service/service.ts';

const perMinute = 3;
const started: TestService[] = [];
afterAll(() => Promise.all(started.map((service) => service.stop())));

/** A service of its own per test: failures are counted per process, in whole minutes of its clock. */
async function start(env: Record<string, string> = {}): Promise<TestService> {
  const service = await startTestService({ env: { AUTH_FAILURES_PER_MINUTE: String(perMinute), ...env } });
  started.push(service);
  // Its minutes are those of this clock: a test does not begin right before one ends.
  await until(() => performance.now() % 60_000 < 57_000);
  return service;
}

async function timed(request: PromiseLike<Response>): Promise<{ ms: number; response: Response }> {
  const began = performance.now();
  const response = await request;
  return { ms: performance.now() - began, response };
}

const guess = (service: TestService, headers: Record<string, string> = {}) =>
  timed(service.get('/v1/sessions', newApiKey()).set(headers).expect(401));

/** Fails so often that the next failure is slow, also when a minute turned meanwhile. */
async function exhaust(service: TestService, headers: Record<string, string> = {}): Promise<void> {
  for (let i = 0; i < perMinute; i += 1) expect((await guess(service, headers)).ms).toBeLessThan(900);
}

const delayed = async (service: TestService) => {
  const text = await service.metrics.registry.getSingleMetricAsString('transcription_delayed_auth_failures_total');
  return Number(/ (\d+)$/m.exec(text.trim())![1]);
};

test('the 4th failure in a minute → the same 401 a second later, and its connection closed', async () => {
  const service = await start();
  const { key } = await makeAccount(service.db);
  await exhaust(service);
  expect(await delayed(service)).toBe(0);

  const agent = new Agent({ keepAlive: true });
  const { ms, response } = await timed(service.get('/v1/sessions', newApiKey()).agent(agent).expect(401));
  expect(ms).toBeGreaterThanOrEqual(900);
  expect(response.headers.connection).toBe('close');
  expect(response.body).toMatchObject({ code: 'unauthorized' });
  expect(response.body).not.toHaveProperty('retryAfterSeconds');
  expect(await delayed(service)).toBe(1);

  const valid = await timed(service.get('/v1/sessions', key).agent(agent).expect(200));
  expect(valid.ms).toBeLessThan(900);
  expect(valid.response.headers.connection).toBe('keep-alive');
  agent.destroy();
});

test('150 failures at once → 100 of them are held, the others answered at once and closed', async () => {
  const service = await start();
  await exhaust(service);
  const answers = await Promise.all(Array.from({ length: 150 }, () => guess(service)));
  expect(answers.every(({ response }) => response.headers.connection === 'close')).toBe(true);
  expect(answers.filter(({ ms }) => ms < 900).length).toBeLessThanOrEqual(50);
  expect(answers.filter(({ ms }) => ms >= 900).length).toBeGreaterThanOrEqual(100);
});

test('X-Forwarded-For without TRUST_PROXY → does not make a new address', async () => {
  const service = await start();
  for (let i = 0; i < perMinute; i += 1) await guess(service, { 'X-Forwarded-For': `203.0.113.${i}` });
  expect((await guess(service, { 'X-Forwarded-For': '203.0.113.9' })).ms).toBeGreaterThanOrEqual(900);
});

test('X-Forwarded-For with TRUST_PROXY=1 → the address that the proxy saw counts, and no other before it', async () => {
  const service = await start({ TRUST_PROXY: '1' });
  await exhaust(service, { 'X-Forwarded-For': '198.51.100.7' });
  expect((await guess(service, { 'X-Forwarded-For': '203.0.113.9' })).ms).toBeLessThan(900);
  expect((await guess(service, { 'X-Forwarded-For': '203.0.113.8, 198.51.100.7' })).ms).toBeGreaterThanOrEqual(900);
});

test('addresses of one IPv6 /64 → are one network; another is not', async () => {
  const service = await start({ TRUST_PROXY: 'loopback' });
  for (let i = 0; i < perMinute; i += 1) await guess(service, { 'X-Forwarded-For': `2001:db8:1:2::${i + 1}` });
  expect((await guess(service, { 'X-Forwarded-For': '2001:db8:1:3::1' })).ms).toBeLessThan(900);
  expect((await guess(service, { 'X-Forwarded-For': '2001:0db8:1:2:ffff::1' })).ms).toBeGreaterThanOrEqual(900);
});
