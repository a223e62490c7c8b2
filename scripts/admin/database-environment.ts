/** The database of a URL, told to programs that are made with libpq, such as psql: by environment variables. */

/** Of the parameters of a URL, those that node-postgres takes and that libpq reads from a variable. */
const variables = {
  host: 'PGHOST',
  port: 'PGPORT',
  user: 'PGUSER',
  password: 'PGPASSWORD',
  options: 'PGOPTIONS',
  sslrootcert: 'PGSSLROOTCERT',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
  sslnegotiation: 'PGSSLNEGOTIATION',
};

/** What is node-postgres's own, and what is nearest to it. libpq, too, takes `ssl=true` in a URL for `require`. */
const nearestModes: Record<string, string> = { 'no-verify': 'require', true: 'require', 1: 'require', 0: 'disable' };

/** What `env` becomes. What the URL leaves out stays as it is there, since the service takes it from there as well. */
export function environmentFor(databaseUrl: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { hostname, port, username, password, pathname, searchParams } = new URL(databaseUrl);
  const besideQuery = { host: hostname.replace(/^\[|\]$/g, ''), port, user: username, password };
  const places = Object.entries(besideQuery).map(([name, text]) => [name, decoded(text)] as const);
  // What stands in the query goes before the rest of the URL.
  const said = new Map([...places, ...searchParams].filter(([, value]) => value !== ''));
  const mode = said.get('sslmode') ?? said.get('ssl') ?? env['PGSSLMODE'];
  return {
    ...env,
    // Without any host, libpq would look for a socket, and node-postgres does not.
    PGHOST: env['PGHOST'] || 'localhost',
    ...Object.fromEntries(
      Object.entries(variables).flatMap(([name, variable]) => (said.has(name) ? [[variable, said.get(name)]] : [])),
    ),
    PGDATABASE: decoded(pathname.slice(1)),
    PGSSLMODE: mode && (nearestModes[mode] ?? mode),
    // They go before PGHOST and would lead elsewhere.
    ...{ PGSERVICE: undefined, PGHOSTADDR: undefined },
  };
}

/** A percent sign that stands for itself is taken as it is, as node-postgres does. */
const decoded = (text: string) => text.replace(/(%[\da-f]{2})+/gi, (encoded) => decodeURIComponent(encoded));
