/** Guessing keys is slow; using one is not. Who is told at once is told while the service's clock stands still. */
import { jest } from '../../../support/run/jest.ts';
import { Agent } from 'node:http';
import { newApiKey } from '../../../../src/api/access/api-key.ts';
import { holdTheClock } from '../../../support/faults/held-clock.ts';
import { makeAccount } from '../../../support/service/accounts.ts';
import { useService } from '../../../support/service/use-service.ts';
import { until } from '../../../support/until.ts';
import type { Response } from 'supertest';
import type { TestService } from '../../../support/service/service.ts';

const perMinute = 3;
beforeEach(() => holdTheClock('timeouts'));
afterEach(() => jest.useRealTimers());

/** A service of its own per test: failures are counted per process. */
const start = (env: Record<string, string> = {}) =>
  useService({ env: { AUTH_FAILURES_PER_MINUTE: String(perMinute), ...env } });

const guess = (service: TestService, headers: Record<string, string> = {}, agent?: Agent): Promise<Response> => {
  const request = service.get('/v1/sessions', newApiKey()).set(headers).expect(401);
  return (agent === undefined ? request : request.agent(agent)).then((response) => response);
};

/** As often as is answered at once. */
async function exhaust(service: TestService, headers: Record<string, string> = {}): Promise<void> {
  for (let i = 0; i < perMinute; i += 1) await guess(service, headers);
  expect(await delayed(service)).toBe(0);
}

const delayed = async (service: TestService) => {
  const text = await service.metrics.registry.getSingleMetricAsString('transcription_delayed_auth_failures_total');
  return Number(/ (\d+)$/m.exec(text.trim())![1]);
};

/** The answer to a guess that comes when the clock has moved by a second, and not before. */
async function aSecondLater(service: TestService, headers?: Record<string, string>, agent?: Agent): Promise<Response> {
  const before = await delayed(service);
  let isAnswered = false;
  const answer = guess(service, headers, agent).finally(() => (isAnswered = true));
  await until(async () => (await delayed(service)) > before);
  jest.advanceTimersByTime(999);
  // Time enough for an answer that was sent too early.
  await service.get('/v1/openapi.json').expect(200);
  expect(isAnswered).toBe(false);
  jest.advanceTimersByTime(1);
  return answer;
}

test('the 4th failure in a minute → the same 401 a second later, and its connection closed', async () => {
  const service = await start();
  const { key } = await makeAccount(service.db);
  await exhaust(service);

  const agent = new Agent({ keepAlive: true });
  const response = await aSecondLater(service, {}, agent);
  expect(response.headers.connection).toBe('close');
  expect(response.body).toMatchObject({ code: 'unauthorized' });
  expect(response.body).not.toHaveProperty('retryAfterSeconds');
  expect(await delayed(service)).toBe(1);

  const valid = await service.get('/v1/sessions', key).agent(agent).expect(200);
  expect(valid.headers.connection).toBe('keep-alive');
  agent.destroy();
});

test('a minute after the first failure → failures are answered at once again', async () => {
  const service = await start();
  await exhaust(service);
  await aSecondLater(service);
  jest.advanceTimersByTime(59_000);
  await guess(service);
  expect(await delayed(service)).toBe(1);
});

test('150 failures at once → 100 of them are held, the others answered at once and closed', async () => {
  const service = await start();
  await exhaust(service);
  const answers: Response[] = [];
  const guesses = Array.from({ length: 150 }, async () => void answers.push(await guess(service)));
  await until(() => answers.length === 50);
  await service.get('/v1/openapi.json').expect(200);
  expect([answers.length, await delayed(service)]).toEqual([50, 150]);
  jest.advanceTimersByTime(1_000);
  await Promise.all(guesses);
  expect(answers.every(({ headers }) => headers.connection === 'close')).toBe(true);
});

test('X-Forwarded-For without TRUST_PROXY → does not make a new address', async () => {
  const service = await start();
  for (let i = 0; i < perMinute; i += 1) await guess(service, { 'X-Forwarded-For': `203.0.113.${i}` });
  await aSecondLater(service, { 'X-Forwarded-For': '203.0.113.9' });
});

test('X-Forwarded-For with TRUST_PROXY=1 → the address that the proxy saw counts, and no other before it', async () => {
  const service = await start({ TRUST_PROXY: '1' });
  await exhaust(service, { 'X-Forwarded-For': '198.51.100.7' });
  await guess(service, { 'X-Forwarded-For': '203.0.113.9' });
  await aSecondLater(service, { 'X-Forwarded-For': '203.0.113.8, 198.51.100.7' });
});

test('addresses of one IPv6 /64 → are one network; another is not', async () => {
  const service = await start({ TRUST_PROXY: 'loopback' });
  for (let i = 0; i < perMinute; i += 1) await guess(service, { 'X-Forwarded-For': `2001:db8:1:2::${i + 1}` });
  await guess(service, { 'X-Forwarded-For': '2001:db8:1:3::1' });
  await aSecondLater(service, { 'X-Forwarded-For': '2001:0db8:1:2:ffff::1' });
});
