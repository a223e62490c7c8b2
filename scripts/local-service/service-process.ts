/** The service as a child of a command: it ends when the command ends, however that happens. */
import { spawn } from 'node:child_process';
import { open, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

const root = resolve(import.meta.dirname, '../..');
const startLimitMs = 180_000;
/** The service itself gives up an orderly stop after 25 s. */
const stopLimitMs = 30_000;
const shownLogLines = 8;

export interface ServiceProcess {
  /** Rejects when the service ends without having been asked to. */
  readonly unexpectedEnd: Promise<never>;
  /** Ends the service in order, and with it the embedded PostgreSQL. */
  stop(): Promise<void>;
}

/**
 * Starts API and worker, and returns once the API answers.
 * @param options.environment over that of this process
 * @throws with the end of its log when it ends or doesn't answer
 */
export async function startServiceProcess(options: {
  url: string;
  logFile: string;
  environment: Record<string, string>;
  signal: AbortSignal;
}): Promise<ServiceProcess> {
  const log = await open(options.logFile, 'w', 0o600);
  // The kernel sends SIGTERM when this process is gone, even after SIGKILL. The service has a process group of its own,
  // so that a terminal's Ctrl-C reaches only the quickstart, which then ends the service.
  const child = spawn('setpriv', ['--pdeathsig', 'TERM', '--', process.execPath, 'src/start.ts'], {
    cwd: root,
    env: { ...process.env, ...options.environment },
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
  });
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(`ended with ${signal ?? `exit code ${code}`}`));
  });
  await log.close();
  const unexpectedEnd = ended.then(async (how): Promise<never> => {
    throw new Error(`The service ${how}. The end of its log, ${options.logFile}:\n${await endOf(options.logFile)}`);
  });
  unexpectedEnd.catch(() => {});

  async function stop(): Promise<void> {
    child.kill('SIGTERM');
    const killing = setTimeout(() => child.kill('SIGKILL'), stopLimitMs);
    await ended;
    clearTimeout(killing);
  }

  try {
    await Promise.race([answering(options.url, options.signal), unexpectedEnd]);
    return { unexpectedEnd, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Waits until the API answers. @throws when it does not within a minute, or when `signal` aborts */
export async function answering(url: string, signal: AbortSignal): Promise<void> {
  for (const deadline = Date.now() + startLimitMs; Date.now() < deadline;) {
    signal.throwIfAborted();
    const answer = await fetch(`${url}/openapi.json`, { signal }).catch(() => undefined);
    if (answer?.ok) return;
    await delay(100, undefined, { signal });
  }
  throw new Error(`The service did not answer at ${url} within ${startLimitMs / 1000} s.`);
}

async function endOf(logFile: string): Promise<string> {
  const text = await readFile(logFile, 'utf8').catch(() => '');
  const lines = text.trimEnd().split('\n').slice(-shownLogLines);
  return lines.map((line) => `  ${messageOf(line)}`).join('\n');
}

/** The part of a log line that a person wants to read first. */
function messageOf(line: string): string {
  try {
    return (JSON.parse(line) as { msg?: string }).msg ?? line;
  } catch {
    return line;
  }
}

/**
 * Makes sure that a port can be used before anything is started on it.
 * @returns the port, or a free one for 0
 * @throws a sentence that says which variable to set when it is taken
 */
export async function freePort(host: string, port: number, variable: 'PORT' | 'OPS_PORT'): Promise<number> {
  const probe = createServer();
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  probe.once('error', (error: NodeJS.ErrnoException) => reject(explained(error, host, port, variable)));
  probe.listen(port, host, () => {
    const { port: usable } = probe.address() as AddressInfo;
    probe.close(() => resolve(usable));
  });
  return promise;
}

function explained(error: NodeJS.ErrnoException, host: string, port: number, variable: string): Error {
  if (error.code === 'EADDRNOTAVAIL') return new Error(`HOST=${host} is no address of this machine.`);
  if (error.code === 'EACCES') return new Error(`Port ${port} is for root only. Set ${variable} to one above 1023.`);
  if (error.code !== 'EADDRINUSE') return error;
  return new Error(
    `Port ${port} on ${host} is taken, perhaps by this service in another terminal.\nStop that, or type ${variable}=${port + 1} before the command.`,
  );
}

/** The address to connect to, for an address that a server listens on. */
export function connectable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
