/** What programs such as psql are told of a database: as much as node-postgres reads from its URL, and no more. */
import { environmentFor } from '../../../scripts/admin/database.ts';

/** Without what is undefined: a process is not given it. */
const told = (url: string, env: NodeJS.ProcessEnv = {}) =>
  JSON.parse(JSON.stringify(environmentFor(url, env))) as object;
const database = { PGHOST: 'db', PGDATABASE: 'name' };

test.each([
  ['everything', 'postgres://me:secret@db:5433/name', { PGPORT: '5433', PGUSER: 'me', PGPASSWORD: 'secret' }],
  ['no user, no password, no port', 'postgres://db/name', {}],
  ['encoded', 'postgres://m%40e:p%2Fs%20%s@db/na%20me', { PGUSER: 'm@e', PGPASSWORD: 'p/s %s', PGDATABASE: 'na me' }],
  ['IPv6', 'postgres://[::1]/name', { PGHOST: '::1' }],
  ['a socket in the query', 'postgres:///name?host=/run/postgresql', { PGHOST: '/run/postgresql' }],
  ['a socket as the host', 'postgres://me@%2Frun%2Fpg/name', { PGHOST: '/run/pg', PGUSER: 'me' }],
  ['no host', 'postgres:///name', { PGHOST: 'localhost' }],
  [
    'the rest in the query',
    'postgres://db/name?port=5433&user=me&password=secret&options=-c%20search_path%3Dours',
    { PGPORT: '5433', PGUSER: 'me', PGPASSWORD: 'secret', PGOPTIONS: '-c search_path=ours' },
  ],
  [
    'certificates',
    'postgres://db/name?sslmode=verify-full&sslrootcert=ca.pem&sslcert=me.pem&sslkey=me.key',
    { PGSSLMODE: 'verify-full', PGSSLROOTCERT: 'ca.pem', PGSSLCERT: 'me.pem', PGSSLKEY: 'me.key' },
  ],
  ['a mode of node-postgres alone', 'postgres://db/name?sslmode=no-verify', { PGSSLMODE: 'require' }],
  ['ssl', 'postgres://db/name?ssl=true', { PGSSLMODE: 'require' }],
  ['no ssl', 'postgres://db/name?ssl=0', { PGSSLMODE: 'disable' }],
])('a URL with %s', (_, url, expected) => {
  expect(told(url)).toEqual({ ...database, ...expected });
});

test('what the URL leaves out → stays as it is in the environment', () => {
  const env = { PATH: '/bin', PGUSER: 'me', PGPASSWORD: 'secret', PGPORT: '5433', PGSSLMODE: 'no-verify' };
  expect(told('postgres://db/name', env)).toEqual({ ...env, ...database, PGSSLMODE: 'require' });
  expect(told('postgres:///name', { ...env, PGHOST: 'other' })).toMatchObject({
    PGHOST: 'other',
    PGPASSWORD: 'secret',
  });
});

test('what the URL says → goes before the environment, of which nothing leads elsewhere', () => {
  const env = { PGHOST: 'a', PGDATABASE: 'b', PGUSER: 'c', PGPASSWORD: 'd', PGSERVICE: 'e', PGHOSTADDR: '10.0.0.1' };
  expect(told('postgres://me:secret@db/name', env)).toEqual({ ...database, PGUSER: 'me', PGPASSWORD: 'secret' });
});
