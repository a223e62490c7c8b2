/** When a connection is broken off, and when it isn't. A server that swallows packets: test/service/outage.test.ts. */
import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { ConnectionWatch } from '../../db/connection-watch.ts';
import { openConnection } from '../../db/database.ts';

test.concurrent(
  'a silent connection, and a server that refuses another → it said so itself: the connection lives on',
  async () => {
    const admin = openConnection(process.env.TEST_DATABASE_URL!);
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
      expect((await connection.query('select 7 as answer from pg_sleep(4)')).rows).toEqual([{ answer: 7 }]);
      await connection.end();
    } finally {
      await admin.query(`drop role ${role}`);
      await admin.end();
    }
  },
);

/** The far end of a question, in the test's hands. */
class Line extends EventEmitter {
  isHungUp = false;
  answer: () => Promise<void> = async () => {};
  async connect() {}
  async end() {
    this.isHungUp = true;
  }
  query() {
    this.emit('question');
    return this.answer();
  }
}

test.concurrent('a line that was given up ends late → the one that took its place stays in use', async () => {
  const lines: Line[] = [];
  const questions = new EventEmitter();
  const watch = new ConnectionWatch(
    () => {
      const line = new Line();
      line.on('question', () => questions.emit('question'));
      if (lines.push(line) === 1) line.answer = () => Promise.reject(new Error('Connection terminated'));
      return line;
    },
    () => false,
  );
  const broken = watch.stream();
  await expect(once(broken, 'close')).rejects.toThrow('the server is silent');
  const healthy = watch.stream();
  const ask = async () => {
    const asked = once(questions, 'question');
    await asked;
    await new Promise(setImmediate);
  };
  await ask();
  lines[0]!.emit('end');
  await ask();
  await watch.close();
  expect(lines.map(({ isHungUp }) => isHungUp)).toEqual([true, true]);
  expect(healthy.destroyed).toBe(false);
  healthy.destroy();
});

test.concurrent(
  'a server that answers, and a connection that says nothing for longer than it may → broken off',
  async () => {
    const watch = new ConnectionWatch(
      () => new Line(),
      () => true,
      5_000,
    );
    const socket = watch.stream();
    await expect(once(socket, 'close')).rejects.toThrow('the server is silent');
    expect(socket.destroyed).toBe(true);
    await watch.close();
  },
);
