/** PostgreSQL is away while the whole service is at work. No restart is needed afterwards. One that is stopped: test/machines. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { listLedger } from '../../db/accounts/ledger.ts';
import { expectSound } from '../support/service/audit.ts';
import { clientOf } from '../support/clients/client.ts';
import { useDatabase } from '../support/service/use-database.ts';
import { steadyPort } from '../rig/ports.ts';
import { startRelay } from '../support/faults/relay.ts';
import { until } from '../support/until.ts';
import { startWhole } from './whole-service.ts';
import type { Seen } from '../support/clients/client.ts';

const awayMs = 30_000;

test('the network swallows every packet for 30 s → 503 while it is away, not ready but healthy, then everything goes on without a restart', async () => {
  const { url } = await useDatabase();
  const relay = await startRelay(url);
  const opsPort = String(await steadyPort());
  const whole = await startWhole({ url, env: { DATABASE_URL: relay.url, OPS_PORT: opsPort } });
  const { service, client, file, db, dataDir, account } = whole;
  const ops = async (name: string) => {
    // Not on a connection that the server may be closing, idle as it was.
    const answer = await fetch(`http://127.0.0.1:${opsPort}${name}`, { headers: { Connection: 'close' } });
    return `${answer.status} ${await answer.text()}`;
  };
  /** What needs no database. */
  const others = async () => {
    const stranger = clientOf(service.url, 'secret').get('/v1/sessions');
    const answers = await Promise.all([client.get('/openapi.json'), client.get('/v1/nothing'), stranger]);
    return answers.map(({ status }) => status);
  };

  const sessionId = await client.accepted(file);
  await until(() => client.get(`/v1/sessions/${sessionId}`), runs);
  const polling = client.get(`/v1/sessions/${sessionId}/transcript?wait=30`);
  const [lines, awayAt] = [service.lines.length, performance.now()];
  relay.swallow();
  const seen: Seen[] = [];
  for (let round = 0; performance.now() - awayAt < awayMs; round += 1) {
    const [ready, healthy, ...answers] = await Promise.all([
      ops('/readyz'),
      ops('/healthz'),
      ...['/v1/sessions', `/v1/sessions/${sessionId}`, `/v1/sessions/${sessionId}/transcript`].map(client.get),
      client.get(`/v1/sessions/${sessionId}/transcript?wait=30`),
      client.upload(file, `key ${round}`),
    ]);
    // All of them are answered while the database is away: it comes back after this loop.
    expect([ready, healthy]).toEqual([expect.stringMatching(notReady), '200 ok\n']);
    if (round === 0) expect(await others()).toEqual([200, 404, 401]);
    seen.push(...answers);
    // No faster than impatient clients.
    await until(
      () => performance.now() - awayAt,
      (ms) => ms > 3_000 * (round + 1),
    );
  }
  const seconds = (performance.now() - awayAt) / 1000;
  const quiet = service.lines.length - lines - seen.length * 2;
  relay.flow();

  expect(new Set(seen.map(({ status, code }) => `${status} ${code}`))).toEqual(new Set(['503 unavailable']));
  for (const { headers, text } of seen) {
    expect(headers['retry-after']).toMatch(/^[1-9]\d*$/);
    expect(text).not.toMatch(/ECONN|127\.0\.0\.1|postgres|\bpg\b/i);
  }
  // What nobody asked for: some lines per second, whatever hangs or is refused.
  expect(quiet / seconds).toBeLessThan(20);
  expect([200, 503]).toContain((await polling).status);

  await until(async () => (await ops('/readyz')).startsWith('200'));
  await until(
    () => client.get('/v1/sessions'),
    ({ status }) => status === 200,
  );
  whole.go();
  const ids = [sessionId, await client.accepted(file, 'key 0')];
  for (const id of ids) expect(await client.final(id)).toMatchObject({ status: 'completed' });
  expect((await listLedger(db, account.id)).map((entry) => entry.amount_ms)).toEqual([60_000, -2_000, -2_000]);
  expect(await readdir(join(dataDir, 'audio', 'incoming'))).toEqual([]);
  await expectSound({ db, dataDir });
  expect(service.lines.join('\n')).not.toMatch(/unhandled|uncaught|tsk_/i);
  expect(await service.stop()).toBe(0);
});

const notReady = /^503 the database (can not be reached|does not answer)\n$/;
const runs = ({ text }: Seen) => (JSON.parse(text) as { status: string }).status === 'processing';
