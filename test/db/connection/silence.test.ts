/** When a connection is broken off, and when it isn't. A server that swallows packets: test/service/outage.system.test.ts. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { Client } from 'pg';
import { openConnection } from '../../../db/connection/database.ts';
import { SilenceWatch } from '../../../db/connection/silence.ts';
import { startRelay } from '../../support/faults/relay.ts';
import type { AddressInfo, Socket } from 'node:net';

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
  const { hostname, port } = new URL(process.env.TEST_DATABASE_URL!);
  const sockets: Socket[] = [];
  let isSilent = false;
  const cable = createServer({ allowHalfOpen: true }, (near) => {
    sockets.push(near);
    if (isSilent) return void near.pause();
    const far = connect(Number(port), hostname);
    sockets.push(far);
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => cable.listen(0, '127.0.0.1', resolve));
  const url = new URL(process.env.TEST_DATABASE_URL!);
  url.host = `127.0.0.1:${(cable.address() as AddressInfo).port}`;
  const connection = openConnection(url.href);
  const told: unknown[] = [];
  connection.on('error', (error) => told.push(error));
  try {
    await connection.connect();
    isSilent = true;
    for (const socket of sockets) socket.unpipe().pause();
    await connection.end();
    expect(told).toEqual([]);
  } finally {
    for (const socket of sockets) socket.destroy();
    cable.close();
  }
});

test('a connection that breaks while it is asked → the question fails, and nothing else does', async () => {
  const relay = await startRelay(process.env.TEST_DATABASE_URL!);
  const connection = openConnection(relay.url);
  try {
    await connection.connect();
    const asked = connection.query('select pg_sleep(60)').then(
      () => 'answered',
      () => 'failed',
    );
    await relay.cut();
    expect(await asked).toBe('failed');
    await connection.end();
  } finally {
    await relay.close();
  }
});

test('a server that answers, and a connection that says nothing for longer than it may → broken off', async () => {
  const watch = new SilenceWatch(async () => true, 5_000);
  const socket = watch.stream();
  await expect(once(socket, 'close')).rejects.toThrow('the server is silent');
  expect(socket.destroyed).toBe(true);
});
