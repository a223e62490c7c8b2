/** A run for `run.system.test.ts`: tests that hang, fail and leave a rejection behind, and a good one after them. */
import { createServer } from 'node:net';
import { once } from 'node:events';
import { atEnd } from '../../at-end.ts';

test('hangs', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  atEnd(() => void server.close());
  await once(server, 'never');
});

test('fails', () => expect(1).toBe(2));

test('leaves a rejection', () => void Promise.reject(new Error('nobody caught this')));

test('is good', () => {});
