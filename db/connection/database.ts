/** The door to `pg`: the pool and single connections. */
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { isDatabaseError } from './database-errors.ts';
import { PrimaryOnly, isRefusedWrite, isServerLost, refuseReadOnly } from './primary-only.ts';
import { SilenceWatch } from './silence.ts';
import { getTypeParser } from './values.ts';
import type { Transaction } from 'kysely';
import type { Schema } from '../schema.ts';

export type Db = Kysely<Schema>;
export type Trx = Transaction<Schema>;
/** A connection from the pool or a transaction: whatever a single query can run on. */
export type Queryable = Db | Trx;

export interface Database {
  readonly db: Db;
  readonly url: string;
  close(): Promise<void>;
}

/** By which the server knows connections of the service. */
export const applicationName = 'transcription';
/** The same of the one connection by which an API hears which sessions have ended. */
export const listenerName = 'transcription listens';
export const statementTimeoutMs = 30_000;
/** The limit for work that takes long by nature and that no request waits for. */
export const patientTimeoutMs = 12 * 60 * 60 * 1000;
/** How long after the server's own limit for a statement its connection is given up, because packets may be lost. */
const unheardMs = 5_000;
/** How long a server that is asked whether it is there may take. */
const answerMs = 3_000;
/** Shorter than any silence that means trouble, because an idle connection is silent, too. */
const idleTimeoutMs = 30_000;
/** Also how long a query may wait for a free connection of the pool. */
const connectionTimeoutMs = 10_000;
/** So a pool finds another server within half an hour even if nothing told it; random, so that not all reconnect at once. */
const maxLifetimeSeconds = () => 1_500 + Math.round(Math.random() * 300);

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
): Database {
  const watch = watchServer(url, timeoutMs + unheardMs, isPooled);
  const limits = { statement_timeout: timeoutMs, idle_in_transaction_session_timeout: timeoutMs };
  const pool = new CountingPool({
    ...connectionOptions(url, isPooled),
    ...(server === 'primary' && primaryOnly(() => {})),
    stream: watch.stream,
    maxLifetimeSeconds: maxLifetimeSeconds(),
    max: maxConnections,
    connectionTimeoutMillis: connectionTimeoutMs,
    idleTimeoutMillis: Math.min(idleTimeoutMs, timeoutMs),
    ...(!isPooled && limits),
    keepAlive: true,
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

const pools = new WeakMap<Queryable, CountingPool>();

/** Whether this is a pool. A transaction's connection is known to Kysely only. */
export const isPool = (db: Queryable): boolean => pools.has(db);

/** A pool that counts who had to wait because all of its connections were in use. */
class CountingPool extends pg.Pool {
  waits = 0;
  waitedMs = 0;

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: PoolCallback): void;
  override connect(callback?: PoolCallback): Promise<pg.PoolClient> | void {
    const hasToWait = this.totalCount >= this.options.max && this.idleCount <= this.waitingCount;
    const told = hasToWait ? this.#waiting() : undefined;
    if (callback === undefined) {
      const connection = super.connect();
      return told === undefined ? connection : connection.finally(told);
    }
    super.connect((error, client, done) => {
      told?.();
      callback(error, client, done);
    });
  }

  /** @returns call it when the waiting is over */
  #waiting(): () => void {
    const began = performance.now();
    this.waits += 1;
    return () => void (this.waitedMs += performance.now() - began);
  }
}

type PoolCallback = Parameters<pg.Pool['connect']>[0];

/** How a pool is used at this moment, and who has waited until now. */
export interface PoolUse {
  inUse: number;
  idle: number;
  most: number;
  waiting: number;
  waits: number;
  waitedMs: number;
}

export function poolUse(db: Db): PoolUse {
  const { totalCount, idleCount, waitingCount, waits, waitedMs, options } = pools.get(db)!;
  // One that is idle and spoken for already is still counted as idle, and whoever gets it as waiting, until the next tick.
  return { inUse: totalCount - idleCount, idle: idleCount, most: options.max, waiting: waitingCount, waits, waitedMs };
}

/** Options of a pool whose connections all lead to a server that takes writes. @param onDemoted see {@link PrimaryOnly} */
function primaryOnly(onDemoted: () => void) {
  const primary = new PrimaryOnly(onDemoted);
  class Client extends pg.Client {
    constructor(options?: string | pg.ClientConfig) {
      super(options);
      primary.watch(this);
    }
  }
  return { Client, onConnect: refuseReadOnly };
}

/** A statement that each connection knows by its name. */
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
  const run = () => pool.query<Row>(statement);
  const { rows } = await run().catch((error: unknown) => {
    if (isRefusedWrite(error) || (isRead && isServerLost(error))) return run();
    throw error;
  });
  return rows;
}

/**
 * A single connection outside the pool. The caller connects, and ends it. When it breaks, whoever asks something over it
 * hears so; only those who wait for more have to listen for 'error'.
 *
 * @param isPooled as that of a pool
 * @param name by which the server knows it
 */
export function openConnection(url: string, isPooled = false, name = listenerName): pg.Client {
  const watch = watchServer(url, undefined, isPooled);
  const options = { connectionTimeoutMillis: connectionTimeoutMs, keepAlive: true, stream: watch.stream };
  const named = { application_name: name };
  const connection = new pg.Client({ ...connectionOptions(url, isPooled), ...options, ...named });
  // An 'error' without a listener ends the process.
  connection.on('error', () => {});
  return connection;
}

/** For the queue, which makes its own pool: what to add to the pool's options. */
export function watchForeignPool(url: string): object {
  const watch = watchServer(url);
  return {
    // The queue's connection for LISTEN is not in its pool, but leads to the same server.
    ...primaryOnly(() => watch.breakOffAll()),
    stream: watch.stream,
    query_timeout: 4 * (statementTimeoutMs + unheardMs),
    maxLifetimeSeconds: maxLifetimeSeconds(),
  };
}

function watchServer(url: string, longestSilenceMs?: number, isPooled?: boolean): SilenceWatch {
  const limits = { connectionTimeoutMillis: answerMs, query_timeout: answerMs };
  const answers = async () => {
    const connection = new pg.Client({ ...connectionOptions(url, isPooled), ...limits });
    connection.on('error', () => {});
    try {
      await connection.connect();
      await connection.query('select 1');
      return true;
    } catch (error) {
      // A refusal is an answer, too.
      return isDatabaseError(error);
    } finally {
      void connection.end().catch(() => {});
    }
  };
  return new SilenceWatch(answers, longestSilenceMs);
}

/** Poolers refuse or ignore what a connection asks for at its start. */
function connectionOptions(url: string, isPooled = false): pg.ClientConfig {
  return {
    connectionString: url,
    ...(!isPooled && { options: '-c timezone=UTC -c DateStyle=ISO' }),
    types: { getTypeParser },
    application_name: applicationName,
  };
}
