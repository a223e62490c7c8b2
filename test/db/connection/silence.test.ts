/** When a connection is given up. The whole service before a server that swallows packets: test/service/outage.system.test.ts. */
import { openConnection } from '../../../db/connection/database.ts';
import { startRelay } from '../../support/faults/relay.ts';

test('a server that falls silent → a question fails when the silence lasts too long; an end ends, and nobody is told', async () => {
  const relay = await startRelay(process.env.TEST_DATABASE_URL!);
  const [asked, ended] = [3_000, 3_000].map((longestSilenceMs) => openConnection(relay.url, { longestSilenceMs }));
  const told: unknown[] = [];
  ended!.on('error', (error) => told.push(error));
  await Promise.all([asked!.connect(), ended!.connect()]);
  relay.swallow();
  const end = ended!.end();
  await expect(asked!.query('select 1')).rejects.toThrow('the server is silent');
  await end;
  expect(told).toEqual([]);
});

test('a connection that breaks while it is asked → the question fails, and nothing else does', async () => {
  const relay = await startRelay(process.env.TEST_DATABASE_URL!);
  const connection = openConnection(relay.url);
  await connection.connect();
  const asked = connection.query('select pg_sleep(60)').then(
    () => 'answered',
    () => 'failed',
  );
  relay.cut();
  expect(await asked).toBe('failed');
  await connection.end();
});
