/** When a connection is broken off, and when it isn't. A server that swallows packets: test/service/outage.system.test.ts. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Client } from 'pg';
import { openConnection } from '../../../db/connection/database.ts';
import { SilenceWatch } from '../../../db/connection/silence.ts';
import { startRelay } from '../../support/faults/relay.ts';

test('a silent connection, and a server that refuses another → it said so itself: the connection lives on', async () => {
  const admin = new Client(process.env.TEST_DATABASE_URL!);
  await admin.connect();
  const role = `role_${randomUUID().replaceAll('-', '')}`;
  await admin.query(`create role ${role} login password 'secret' connection limit 1`);
  try {
    const url = new URL(process.env.TEST_DATABASE_URL!);
    url.username = role;
    url.password = 'secret';
    const connection = openConnection(url.href);
    await connection.connect();
    const second = openConnection(url.href);
    await expect(second.connect()).rejects.toMatchObject({ code: '53300' });
    // Longer than a connection may be silent without a question.
    expect((await connection.query('select 7 as answer from pg_sleep(6)')).rows).toEqual([{ answer: 7 }]);
    await connection.end();
  } finally {
    await admin.query(`drop role ${role}`);
    await admin.end();
  }
});

test('a connection that is being ended when its server falls silent → broken off, and nobody is told', async () => {
  const relay = await startRelay(process.env.TEST_DATABASE_URL!);
  const connection = openConnection(relay.url);
  const told: unknown[] = [];
  connection.on('error', (error) => told.push(error));
  await connection.connect();
  relay.swallow();
  await connection.end();
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

test('a server that answers, and a connection that says nothing for longer than it may → broken off', async () => {
  const watch = new SilenceWatch(async () => true, 5_000);
  const socket = watch.stream();
  await expect(once(socket, 'close')).rejects.toThrow('the server is silent');
  expect(socket.destroyed).toBe(true);
});
