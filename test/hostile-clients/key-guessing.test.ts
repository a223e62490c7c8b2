/** Guesses of every kind, by hundreds and from the address of an honest client. */
import { Agent } from 'node:http';
import { newApiKey } from '../../src/api/access/api-key.ts';
import { makeAccount } from '../support/service/accounts.ts';
import { useService } from '../support/service/use-service.ts';

const perMinute = 50;
const service = await useService({ env: { AUTH_FAILURES_PER_MINUTE: String(perMinute) } });

async function metric(line: RegExp): Promise<number> {
  return Number(line.exec(await service.metrics.registry.metrics())?.[1] ?? 0);
}

const damaged = (key: string) => `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
const kinds: ((key: string) => string | undefined)[] = [
  () => `Bearer ${newApiKey()}`,
  (key) => `Bearer ${damaged(key)}`,
  (key) => `Bearer ${key.toLowerCase()}`,
  (key) => `Bearer ${key}0`,
  () => 'Bearer sk_live_0123456789',
  () => `Bearer ${'a'.repeat(4_000)}`,
  () => 'Basic YTpi',
  () => undefined,
];

test('600 guesses at once → each key the 401 of any other, all counted, those beyond the number closed; valid keys meanwhile → served and kept alive', async () => {
  const account = await makeAccount(service.db);
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity });
  const guesses = Array.from({ length: 600 }, async (_, i) => {
    const authorization = kinds[i % kinds.length]!(account.key);
    const request = service.get('/v1/sessions').agent(agent);
    return authorization === undefined ? request : request.set('Authorization', authorization);
  });
  const honest = Array.from({ length: 50 }, () => service.get('/v1/sessions', account.key).agent(agent).expect(200));
  const refused = await Promise.all(guesses);
  const served = await Promise.all(honest);
  agent.destroy();

  expect(refused.filter(({ status }) => status !== 401)).toEqual([]);
  // What is no key at all is told so: the last two kinds.
  const guessed = refused.filter((_, i) => i % kinds.length < kinds.length - 2);
  const bodies = guessed.map(({ body }) => JSON.stringify({ ...(body as object), requestId: '' }));
  expect(new Set(bodies).size).toBe(1);
  const closed = refused.filter(({ headers }) => headers.connection === 'close');
  expect(closed).toHaveLength(600 - perMinute);
  expect(served.filter(({ headers }) => headers.connection === 'close')).toEqual([]);
  expect(await metric(/^transcription_delayed_auth_failures_total (\d+)$/m)).toBe(600 - perMinute);
  expect(await metric(/^transcription_refusals_total\{code="unauthorized"\} (\d+)$/m)).toBe(600);
});

test('uploads without a valid key → refused without a byte on disk', async () => {
  const sent = Array.from({ length: 20 }, () =>
    service.post('/v1/transcriptions', newApiKey()).attach('file', Buffer.alloc(100_000), 'a.wav').expect(401),
  );
  await Promise.all(sent);
  expect(service.logLines.filter((line) => /"level":(50|60)/.test(line))).toEqual([]);
});
