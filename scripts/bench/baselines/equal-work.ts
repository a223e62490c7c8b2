/**
 * What the service promises beside its answers, as a competent team would add it to Fastify in a day: the key is looked up and
 * the request counted against its account's allowance in PostgreSQL before it is answered, and a line is written to the log.
 */
import { hash } from 'node:crypto';
import { pino } from 'pino';
import type { FastifyInstance } from 'fastify';
import type pg from 'pg';

const owner = `select account_id, a.requests_per_minute as allowance, scopes from api_keys as k
  join accounts as a on a.id = k.account_id
  where digest = $1 and revoked_at is null and (expires_at is null or expires_at > now()) and suspended_at is null`;

const count = `insert into allowance as counted (account_id, window_number, used)
  values ($1, floor(extract(epoch from now()) / 60), 1)
  on conflict (account_id) do update set window_number = excluded.window_number,
    used = case when counted.window_number = excluded.window_number then counted.used + 1 else 1 end
  returning used`;

interface Owner {
  account_id: string;
  allowance: number;
  scopes: string[];
}

export function doEqualWork(app: FastifyInstance, pool: pg.Pool): void {
  const log = pino();
  app.addHook('onRequest', async ({ headers }, reply) => {
    const key = /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1] ?? '';
    const digest = hash('sha256', key, 'buffer');
    const { rows } = await pool.query<Owner>({ name: 'owner', text: owner, values: [digest] });
    const [found] = rows;
    if (found === undefined) return reply.code(401).send();
    const counted = await pool.query<{ used: number }>({ name: 'count', text: count, values: [found.account_id] });
    const left = found.allowance - counted.rows[0]!.used;
    reply.header('RateLimit', `"plan";r=${Math.max(0, left)}`);
    if (left < 0) return reply.code(429).send();
    if (!found.scopes.includes('read')) return reply.code(403).send();
    headers['x-account'] = found.account_id;
    return undefined;
  });
  app.addHook('onResponse', async ({ id, method, url, headers }, { statusCode, elapsedTime }) => {
    log.info({ id, method, url, status: statusCode, accountId: headers['x-account'], ms: elapsedTime }, 'request');
  });
}
