/** The server on a cluster: started, adopted where it runs, and stopped. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fstatSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { DatabaseUnsupported } from '../connection/database-errors.ts';
import { clusterExists, createCluster, readPassword, roleName } from './cluster.ts';
import { until } from './file-lock.ts';
import { cleanEnvironment, findPrograms, runProgram } from './programs.ts';
import type { AddressInfo } from 'node:net';
import type { ClusterPaths } from './cluster.ts';
import type { Programs } from './programs.ts';

type Notice = (message: string) => void;

/** Recovery after a crash reads all that was written since the last checkpoint. That takes minutes on a slow disk. */
export const readyLimitMs = 10 * 60_000;
const lookAgainMs = 50;
/** A service has 25 s to stop. */
const stopLimitMs = 10_000;
const largestLogBytes = 10 * 1024 * 1024;

/**
 * The port was taken after we looked, a server that a killed process had begun to start runs after all, or processes outlive
 * their server, which end when they notice.
 */
const passesSoon = /Address already in use|lock file "postmaster\.pid" already exists|pre-existing shared memory block/;

const settings = {
  // Reached by TCP from this machine only. A socket file would limit the length of the path and would be a second way
  // in.
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: 200,
  timezone: 'UTC',

  // Errors reach the client, which logs what it wants. Their texts quote values of customers, so the server's own log
  // holds only its starts, stops, crashes and refused logins.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_parameter_max_length: 0,
  log_parameter_max_length_on_error: 0,
  log_statement: 'none',
  log_min_duration_statement: -1,
  log_autovacuum_min_duration: -1,
  log_checkpoints: 'off',
  log_timezone: 'UTC',
  log_line_prefix: '%m [%p] ',
} as const;

/** Arguments for `postgres`. They override postgresql.conf, so this file decides how every start behaves. */
export function serverArguments(name: string, port: number): string[] {
  const all = { ...settings, cluster_name: name, port };
  return Object.entries(all).flatMap(([setting, value]) => ['-c', `${setting}=${value}`]);
}

/**
 * Makes sure the server runs and accepts connections, and makes the cluster first where there is none. Only for the
 * holder of the start lock.
 * @returns the database's URL
 * @throws when the server can't be started (with the last lines of its log) or isn't ready within `readyLimitMs`
 * @throws {DatabaseUnsupported} when the data is of another major version
 */
export async function ensureRunning(paths: ClusterPaths, notice: Notice): Promise<string> {
  if (!clusterExists(paths)) {
    notice(`making a database in ${paths.folder}`);
    await createCluster(paths, await findPrograms(paths));
  }
  const waiting = `waiting until PostgreSQL in ${paths.data} is ready (it may be recovering)`;
  const timer = setTimeout(notice, 3_000, waiting);
  const giveUpAt = performance.now() + readyLimitMs;
  try {
    while (!(await acceptsConnections(paths))) {
      const why = runningServer(paths) === undefined ? await start(paths) : '';
      if (performance.now() > giveUpAt)
        throw new Error(
          `PostgreSQL in ${paths.data} is not ready after ${readyLimitMs / 60_000} minutes, see ${paths.log}\n${why}`,
        );
      await pause(lookAgainMs);
    }
    return urlOf(paths, roleName);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * A name for a data folder, in the command line of its server. It stays when the folder is renamed, and a copy of the folder
 * has another one.
 */
export function clusterName(dataFolder: string): string {
  const { dev, ino } = statSync(dataFolder);
  return `transcription-${dev.toString(16)}-${ino.toString(16)}`;
}

/**
 * What the server that runs on this cluster, in whatever state, says about itself in postmaster.pid. The port is missing in
 * the first moments. Undefined when none runs, also when its file is still there.
 */
export function runningServer(paths: ClusterPaths) {
  const lines = readIfThere(paths.postmasterPid).split('\n');
  const pid = Math.abs(Number(lines[0]));
  const ready = lines[7]?.trim() === 'ready';
  return isServerOf(paths, pid) ? { pid, port: Number(lines[3]) || undefined, ready } : undefined;
}

/** Everybody may read command lines, also in a container. That of a zombie is empty. */
const isServerOf = ({ data }: ClusterPaths, pid: number) =>
  readIfThere(`/proc/${pid}/cmdline`).includes(`cluster_name=${clusterName(data)}\0`);

/** Empty where it is gone, also between two looks. */
function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

const urlOf = (paths: ClusterPaths, database: string) =>
  `postgres://${roleName}:${readPassword(paths)}@127.0.0.1:${runningServer(paths)?.port}/${database}`;

// Ended by an administrator or by the crash of another process, starting up, recovering or shutting down.
const passes = ({ code }: { code?: string }) => code === undefined || /^(57P0[123]|E[A-Z]+)$/.test(code);

/**
 * Makes the service's database where there is none yet.
 * @returns false when the server is not ready
 * @throws when it refuses the connection for any other reason
 */
async function acceptsConnections(paths: ClusterPaths): Promise<boolean> {
  if (!runningServer(paths)?.ready) return false;
  const client = new pg.Client({ connectionString: urlOf(paths, 'postgres'), connectionTimeoutMillis: 5_000 });
  // When the server goes away, the query that fails tells it. An event without a listener would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rowCount } = await client.query('select from pg_database where datname = $1', [roleName]);
    if (rowCount === 0) await client.query(`create database ${roleName}`);
    return true;
  } catch (error) {
    if (passes(error as { code?: string })) return false;
    throw new Error(`PostgreSQL refuses a connection: ${(error as Error).message}`, { cause: error });
  } finally {
    await client.end().catch(() => undefined);
  }
}

/**
 * Starts the server in a session of its own, so that it outlives this process and does not get ^C.
 * @returns once it is ready, or has ended for a reason that passes: the end of its log
 */
async function start(paths: ClusterPaths): Promise<string> {
  const { data, log } = paths;
  const programs = await findPrograms(paths);
  // PostgreSQL respects it as long as any process, even a zombie, has its number.
  rmSync(paths.postmasterPid, { force: true });
  const options = serverArguments(clusterName(data), await choosePort(data));
  const [program = '', ...args] = [...programs.prefix, programs.postgres, '-D', data, ...options];
  const isTooLarge = (statSync(log, { throwIfNoEntry: false })?.size ?? 0) > largestLogBytes;
  const output = openSync(log, isTooLarge ? 'w' : 'a', 0o600);
  try {
    const { size } = fstatSync(output);
    const env = cleanEnvironment();
    const child = spawn(program, args, { cwd: data, env, detached: true, stdio: ['ignore', output, output] });
    await once(child, 'spawn');
    child.unref();
    const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
    await until(() => hasEnded() || runningServer(paths)?.ready, readyLimitMs);
    const reason = readFileSync(log).subarray(size).toString().trimEnd().split('\n').slice(-15).join('\n');
    if (!hasEnded() || passesSoon.test(reason)) return reason;
    await refuseOtherMajorVersion(paths, programs);
    throw new Error(`PostgreSQL did not start in ${data}; the end of ${log}:\n${reason}`);
  } finally {
    closeSync(output);
  }
}

/** The port of the last start if it is free, so that programs that know the server's URL find it again. */
async function choosePort(data: string): Promise<number> {
  // PostgreSQL writes down its command line at every start.
  const before = / "port=(\d+)"/.exec(readIfThere(join(data, 'postmaster.opts')))?.[1];
  return freePort(Number(before ?? 0)).catch(() => freePort(0));
}

function freePort(wanted: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(wanted, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}

/** PostgreSQL opens the data of its own major version only. */
async function refuseOtherMajorVersion({ folder, data }: ClusterPaths, { postgres }: Programs): Promise<void> {
  const ofData = readIfThere(join(data, 'PG_VERSION')).trim();
  const ofPrograms = / (\d+)[.\w]*$/.exec((await runProgram([postgres, '--version'])).output)?.[1];
  if (ofData === '' || ofPrograms === undefined || ofData === ofPrograms) return;
  throw new DatabaseUnsupported(
    `The database in ${folder} is of PostgreSQL ${ofData}. This version of the service brings PostgreSQL ${ofPrograms}, which can ` +
      'not open it. Nothing was changed. Install the version of the service that served it before, and type there: ' +
      'npm run admin -- database run -- pg_dump --format=custom --file=transcription.dump. ' +
      'What follows is in scripts/deploy/OPERATIONS.md, "Another PostgreSQL".',
  );
}

/** Stops the server if it runs: clients are disconnected, and everything is written. Only when that fails, it is stopped by force. */
export async function stopServer(paths: ClusterPaths): Promise<void> {
  // PostgreSQL 18 never ends when it is asked for the first while it recovers from the crash of a backend. After the second
  // the next start recovers, and nothing that was committed is lost.
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    const pid = runningServer(paths)?.pid;
    if (pid === undefined) return;
    process.kill(pid, signal);
    // It removes its file before it ends.
    if (await until(() => !isServerOf(paths, pid), stopLimitMs)) return;
  }
  throw new Error(`PostgreSQL in ${paths.data} does not stop, see ${paths.log}`);
}
