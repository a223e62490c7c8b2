/** The door to `pg`: the pool and single connections. */
import { Socket } from 'node:net';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { isConnectionLost, isDatabaseUnavailable, isEnding, isRefusedWrite, readOnly } from './database-errors.ts';
import { getTypeParser } from './values.ts';
import type { Transaction } from 'kysely';
import type { Schema } from '../schema.ts';

export type Db = Kysely<Schema>;
export type Trx = Transaction<Schema>;
/** A connection from the pool or a transaction: whatever a single query can run on. */
export type Queryable = Db | Trx;

export type Database = ReturnType<typeof openDatabase>;

/** By which the server knows connections of the service. */
export const applicationName = 'transcription';
/** The same of the one connection by which an API hears which sessions have ended. */
export const listenerName = 'transcription listens';
export const statementTimeoutMs = 30_000;
/** The limit for work that takes long by nature and that no request waits for. */
export const patientTimeoutMs = 12 * 60 * 60 * 1000;
/** How long after the server's own limit for a statement its connection is given up, because packets may be lost. */
const unheardMs = 5_000;
/**
 * When the kernel begins to ask whether a silent server is there; ten questions later, one a second, the connection breaks. It
 * does not ask while packets of ours are on their way: those are what `unheardMs` is for.
 */
const keepAliveMs = 4_000;
/** Shorter than any silence that means trouble, because an idle connection is silent, too. */
const idleTimeoutMs = 30_000;
/** Also how long a query may wait for a free connection of the pool. */
const connectionTimeoutMs = 10_000;
/** So a pool finds another server within half an hour by itself; random, so that not all reconnect at once. */
const maxLifetimeSeconds = () => 1_500 + Math.round(Math.random() * 300);

/** How many connections the statements of one name share, and for how long each takes new ones: one that waits holds up few others. */
const sharedConnections = 2;
const sharedForMs = 1_000;

interface PoolOptions {
  maxConnections?: number;
  /** For a statement, and for a transaction that does nothing; above 0. */
  timeoutMs?: number;
  /** `any` also takes a standby, for what only reads. */
  server?: 'primary' | 'any';
  /** Whether the URL leads to a pooler. The role then has what a pool asks for otherwise: see `pooler.ts`. */
  isPooled?: boolean;
}

/**
 * Opens a pool. Connections are made when they are needed, so this does not fail while the database is away.
 *
 * @param url a `postgres://` URL
 * @param onBroken told when a connection breaks (the pool replaces it)
 */
export function openDatabase(
  url: string,
  onBroken: (error: Error) => void,
  { maxConnections = 20, timeoutMs = statementTimeoutMs, server = 'primary', isPooled = false }: PoolOptions = {},
) {
  const limits = { statement_timeout: timeoutMs, idle_in_transaction_session_timeout: timeoutMs };
  const longestSilenceMs = timeoutMs + unheardMs;
  const pool = new pg.Pool({
    ...connectionOptions(url, isPooled),
    ...(server === 'primary' ? primaryOnly(longestSilenceMs) : { stream: () => socketOf(longestSilenceMs) }),
    maxLifetimeSeconds: maxLifetimeSeconds(),
    max: maxConnections,
    connectionTimeoutMillis: connectionTimeoutMs,
    idleTimeoutMillis: Math.min(idleTimeoutMs, timeoutMs),
    ...(!isPooled && limits),
    pipeline: true,
  });
  // pg-pool listens only to idle connections, and an 'error' without a listener ends the process.
  pool.on('connect', (client) => client.on('error', onBroken));
  pool.on('error', () => {});
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
  pools.set(db, pool);
  return {
    db,
    url,
    async close() {
      await db.destroy();
      // Kysely ends no pool that it has not used.
      if (!pool.ended) await pool.end();
    },
  };
}

const pools = new WeakMap<Queryable, pg.Pool>();

/** Whether this is a pool. A transaction's connection is known to Kysely only. */
export const isPool = (db: Queryable): boolean => pools.has(db);

/** How many connections of a pool are used at this moment, and how many wait for one. */
export function poolUse(db: Db) {
  const { totalCount, idleCount, waitingCount, options } = pools.get(db)!;
  // One that is idle and spoken for already is still counted as idle, and the request that gets it as waiting, until the next tick.
  return { inUse: totalCount - idleCount, idle: idleCount, most: options.max, waiting: waitingCount };
}

/** @param longestSilenceMs after which the connection is given up: TCP itself would wait for a quarter of an hour */
function socketOf(longestSilenceMs = 0): Socket {
  const socket = new Socket().setTimeout(longestSilenceMs);
  return socket.on('timeout', () => breakOff(socket, 'the server is silent'));
}

/**
 * With the code of a reset connection, of which pg says nothing while it ends a connection. Nobody would listen any more,
 * and an 'error' without a listener ends the process.
 */
function breakOff(socket: Socket, why: string): void {
  socket.destroy(Object.assign(new Error(`Connection terminated: ${why}`), { code: 'ECONNRESET' }));
}

/**
 * Options of connections that all lead to a server that takes writes. After a failover, those that are open may lead to a
 * server that was demoted: it answers, but its data grows old. When one of them meets it, all are given up.
 */
function primaryOnly(longestSilenceMs?: number) {
  /** How each open connection is given up. */
  const open = new Map<Socket, () => void>();
  const stream = () => {
    const socket = socketOf(longestSilenceMs);
    const giveUp = () => breakOff(socket, 'the server takes no writes any more');
    open.set(socket, giveUp);
    return socket.once('close', () => open.delete(socket));
  };
  class Client extends pg.Client {
    /** pg's own: whether nothing is asked now. */
    declare readonly readyForQuery: boolean;

    constructor(options?: string | pg.ClientConfig) {
      super(options);
      const socket = this.connection.stream as Socket;
      const breakOffNow = open.get(socket)!;
      let [status, isUnwanted] = ['I', false];
      const watch = () => {
        // One at work ends with its transaction, as the server says.
        open.set(socket, () => (status === 'I' && this.readyForQuery ? breakOffNow() : (isUnwanted = true)));
        // Before pg's own listeners: the pool does not take the connection back.
        this.connection.prependListener('readyForQuery', (message: { status: string }) => {
          status = message.status;
          if (isUnwanted && status === 'I') void this.end();
        });
        this.connection.prependListener('errorMessage', ({ code }: { code?: string }) => {
          if (code === readOnly) for (const giveUp of open.values()) giveUp();
          else if (isEnding(code)) void this.end();
        });
      };
      this.once('connect', watch);
    }
  }
  return { Client, onConnect: refuseReadOnly, stream };
}

/** A connection was made, but to a standby or to a server that was demoted. */
class ServerTakesNoWrites extends Error {
  override readonly name = 'ServerTakesNoWrites';
  readonly code = readOnly;

  constructor() {
    super('The database server takes no writes: it is a standby, or it was demoted');
  }
}

/** @throws when the server takes no writes */
export async function refuseReadOnly(client: Pick<pg.Client, 'query'>): Promise<void> {
  const { rows } = await client.query<{ transaction_read_only: string }>('show transaction_read_only');
  if (rows[0]!.transaction_read_only === 'on') throw new ServerTakesNoWrites();
}

/**
 * A connection on which many requests ask the same, each with its own values, without waiting for the answers before. So a crowd
 * costs fewer wake-ups of both sides, and takes few connections of the pool. It goes back when all are answered.
 */
class SharedConnection {
  readonly name: string;
  readonly #client: Promise<pg.PoolClient>;
  readonly #began = performance.now();
  #hasFailed = false;
  unanswered = 0;

  constructor(name: string, client: Promise<pg.PoolClient>) {
    this.name = name;
    this.#client = client;
  }

  get takesMore(): boolean {
    return this.unanswered > 0 && !this.#hasFailed && performance.now() - this.#began < sharedForMs;
  }

  async run<Row extends object>(statement: NamedStatement): Promise<Row[]> {
    this.unanswered += 1;
    try {
      const client = await this.#client;
      const { stream } = client.connection;
      // What is asked in the same turn of the event loop goes out in one packet.
      stream.cork();
      setImmediate(() => stream.uncork());
      return (await client.query<Row>(statement)).rows;
    } catch (error) {
      this.#hasFailed = true;
      // Those behind a statement that took too long would each take as long.
      if (isDatabaseUnavailable(error))
        await this.#client.then(({ connection }) => connection.stream.destroy()).catch(() => {});
      throw error;
    } finally {
      this.unanswered -= 1;
      if (this.unanswered === 0) void this.#client.then((client) => client.release(this.#hasFailed)).catch(() => {});
    }
  }
}

/** Those that take more. */
const shared = new WeakMap<pg.Pool, SharedConnection[]>();

function shareConnection(pool: pg.Pool, name: string): SharedConnection {
  const all = (shared.get(pool) ?? []).filter(({ takesMore }) => takesMore);
  shared.set(pool, all);
  const alike = all.filter((one) => one.name === name);
  if (alike.length === sharedConnections)
    return alike.reduce((best, other) => (other.unanswered < best.unanswered ? other : best));
  const fresh = new SharedConnection(name, pool.connect());
  all.push(fresh);
  return fresh;
}

export interface NamedStatement {
  /** Always the same for the same text. */
  name: string;
  text: string;
  values: unknown[];
}

/**
 * Runs a statement on a pool. Each connection parses and plans it once and then knows it by its name. The statement
 * runs once more when its connection led to a server that was demoted. A statement that only reads runs once more also
 * when its server ended.
 */
export async function runNamed<Row extends object>(
  db: Queryable,
  statement: NamedStatement,
  { isRead }: { isRead: boolean },
): Promise<Row[]> {
  const pool = pools.get(db)!;
  const run = () => shareConnection(pool, statement.name).run<Row>(statement);
  return await run().catch((error: unknown) => {
    if (isRefusedWrite(error) || (isRead && isConnectionLost(error))) return run();
    throw error;
  });
}

interface ConnectionOptions {
  /** As that of a pool. */
  isPooled?: boolean;
  /** By which the server knows it. */
  name?: string;
  /** After which it breaks. Left out: a statement may take as long as it will. */
  longestSilenceMs?: number;
}

/**
 * A single connection outside the pool. The caller connects, and ends it. When it breaks, the next query on it
 * hears so; only those who wait for more have to listen for 'error'.
 */
export function openConnection(
  url: string,
  { isPooled = false, name = listenerName, longestSilenceMs }: ConnectionOptions = {},
): pg.Client {
  const connection = new pg.Client({
    ...connectionOptions(url, isPooled),
    connectionTimeoutMillis: connectionTimeoutMs,
    stream: () => socketOf(longestSilenceMs),
    application_name: name,
  });
  // An 'error' without a listener ends the process.
  connection.on('error', () => {});
  return connection;
}

/** For the queue, which makes its own pool and listens beside it. A statement of a migration may take longer. */
export const queueConnections = (migrates: boolean): object => ({
  ...keepsAlive,
  ...primaryOnly(),
  query_timeout: (migrates ? 4 : 1) * (statementTimeoutMs + unheardMs),
  maxLifetimeSeconds: maxLifetimeSeconds(),
});

const keepsAlive = { keepAlive: true, keepAliveInitialDelayMillis: keepAliveMs };

/** Poolers refuse or ignore what a connection asks for at its start. */
function connectionOptions(url: string, isPooled: boolean): pg.ClientConfig {
  return {
    ...keepsAlive,
    connectionString: url,
    ...(!isPooled && { options: '-c timezone=UTC -c DateStyle=ISO' }),
    types: { getTypeParser },
    application_name: applicationName,
  };
}
