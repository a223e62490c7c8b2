import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { AddressInfo } from 'node:net';
import type { Binaries } from './binaries.ts';
import type { ClusterPaths } from './cluster.ts';
import { clusterName } from './processes.ts';
import type { RunAs } from './run-as.ts';
import { cleanEnvironment } from './run-program.ts';
import { appendingTo, logSize } from './server-log.ts';
import { serverArguments } from './settings.ts';

/** A server that was just started and may still fail. */
export interface StartedPostmaster {
  readonly pid: number;
  /** Where in the log this start begins, in bytes. */
  readonly logStart: number;
}

/**
 * Starts the server on its port of before, if that is free. It gets a session of its own, so it outlives this process
 * and does not get ^C.
 * @throws when the program can't be started
 */
export async function startPostmaster(
  paths: ClusterPaths,
  binaries: Binaries,
  runAs: RunAs,
  maxConnections?: number,
): Promise<StartedPostmaster> {
  const settings = serverArguments(clusterName(paths.data), await choosePort(paths), maxConnections);
  const [program = '', ...args] = [...runAs.prefix, binaries.postgres, '-D', paths.data, ...settings];
  return appendingTo(paths.log, (log) => {
    const logStart = logSize(paths.log);
    const child = spawn(program, args, {
      cwd: paths.data,
      env: cleanEnvironment(),
      detached: true,
      stdio: ['ignore', log, log],
    });
    return new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('spawn', () => {
        child.unref();
        resolve({ pid: child.pid ?? 0, logStart });
      });
    });
  });
}

/** The old port if it is free, so that programs that know the server's URL find it again after a restart. */
async function choosePort(paths: ClusterPaths): Promise<number> {
  const before = lastPort(paths);
  if (before === undefined) return freePort(0);
  return freePort(before).catch(() => freePort(0));
}

/** The port of the last start: PostgreSQL writes down its command line at every start. */
function lastPort(paths: ClusterPaths): number | undefined {
  const options = join(paths.data, 'postmaster.opts');
  if (!existsSync(options)) return undefined;
  const port = / "port=(\d+)"/.exec(readFileSync(options, 'utf8'))?.[1];
  return port === undefined ? undefined : Number(port);
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
