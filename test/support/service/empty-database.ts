/** A database as an operator makes it for the service: empty, and owned by a login that is no superuser. */
import { randomUUID } from 'node:crypto';
import { ask } from '../../rig/postgres.ts';
import { atEnd } from '../at-end.ts';

/** @param options of `create database` */
export async function useEmptyDatabase(options = '', server = process.env.TEST_DATABASE_URL!): Promise<URL> {
  const url = new URL(server);
  const maintenance = new URL('/postgres', url).href;
  const name = `new_${randomUUID().replaceAll('-', '')}`;
  await ask(maintenance, `create role ${name} login password 'secret-of-${name}' nosuperuser`);
  await ask(maintenance, `create database ${name} owner ${name} template template0 ${options}`);
  atEnd(async () => {
    await ask(maintenance, `drop database ${name} with (force)`);
    await ask(maintenance, `drop role ${name}`);
  });
  return Object.assign(url, { username: name, password: `secret-of-${name}`, pathname: `/${name}` });
}
