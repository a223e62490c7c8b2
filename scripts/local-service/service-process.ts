/** The service, or another server, as a child of a command: it ends when the command ends, however that happens. */
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createServer } from 'node:net';

const root = resolve(import.meta.dirname, '../..');
const startLimitMs = 180_000;
/** The service itself gives up an orderly stop after 25 s. */
const stopLimitMs = 30_000;
const shownLogLines = 8;

export interface ServiceProcess {
  readonly pid: number;
  /** Rejects when the service ends without having been asked to. */
  readonly unexpectedEnd: Promise<never>;
  /** Ends the service in order, and with it the embedded PostgreSQL. */
  stop(): Promise<void>;
}

/**
 * Starts API and worker, or another server, and returns once it answers.
 * @param options.answersAt is asked until anything but 503 comes from there
 * @param options.command in place of API and worker
 * @param options.folder in which it runs; the project's, unless it is named
 * @param options.byNpm whether the command is npm's, which hands no signal on and ends before what it runs
 * @param options.environment over that of this process
 * @throws with the end of its log when it ends or doesn't answer
 */
export async function startServiceProcess(options: {
  answersAt: string;
  command?: readonly string[];
  folder?: string;
  byNpm?: boolean;
  logFile: string;
  environment: Record<string, string>;
  signal: AbortSignal;
}): Promise<ServiceProcess> {
  const { command = [process.execPath, 'src/start.ts'], folder = root, byNpm = false, logFile } = options;
  const log = await open(logFile, 'w', 0o600);
  // The kernel sends SIGTERM when this process is gone, even after SIGKILL. The service has a process group of its own,
  // so that a terminal's Ctrl-C reaches only this command, which then ends the service.
  const child = spawn('setpriv', ['--pdeathsig', 'TERM', '--', ...command], {
    cwd: folder,
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
    throw new Error(`The service ${how}. The end of its log, ${logFile}:\n${await endOf(logFile)}`);
  });
  unexpectedEnd.catch(() => {});

  const signalAll = (name: NodeJS.Signals) => (byNpm ? signalGroup(child.pid!, name) : child.kill(name));
  async function stop(): Promise<void> {
    signalAll('SIGTERM');
    const killing = setTimeout(() => signalAll('SIGKILL'), stopLimitMs);
    await ended;
    while (byNpm && signalGroup(child.pid!, 0)) await delay(10);
    clearTimeout(killing);
  }

  try {
    await Promise.race([answering(options.answersAt, options.signal), unexpectedEnd]);
    return { pid: child.pid!, unexpectedEnd, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** @returns whether anything of the group is alive */
function signalGroup(leader: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-leader, signal);
  } catch {
    return false;
  }
}

/** Waits until a server answers and is ready. @throws when it does not within three minutes, or when `signal` aborts */
export async function answering(url: string, signal: AbortSignal): Promise<void> {
  for (const deadline = Date.now() + startLimitMs; Date.now() < deadline;) {
    signal.throwIfAborted();
    const answer = await fetch(url, { signal }).catch(() => undefined);
    if (answer !== undefined && answer.status !== 503) return;
    await delay(10, undefined, { signal });
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

/** Below the ports that the kernel gives to outgoing connections, so none is taken by chance before it is used. */
const [firstSteady, lastSteady] = [20_000, 32_000];

/**
 * Ports for the service, and where it answers then.
 * @param wanted a free one for 0
 * @throws a sentence that says which variable to set when one is taken
 */
export async function portsFor(host: string, wanted = { port: 0, opsPort: 0 }) {
  const port = await freePort(host, wanted.port, 'PORT');
  const opsPort = await freePort(host, wanted.opsPort, 'OPS_PORT');
  const address = (at: number) => `http://${connectable(host)}:${at}`;
  const env = { HOST: host, PORT: String(port), OPS_PORT: String(opsPort) };
  return { env, url: address(port), opsUrl: address(opsPort) };
}

export async function freePort(host: string, port: number, variable: 'PORT' | 'OPS_PORT'): Promise<number> {
  for (;;) {
    const wanted = port === 0 ? randomInt(firstSteady, lastSteady) : port;
    try {
      const probe = createServer().listen(wanted, host);
      await once(probe, 'listening');
      await new Promise((resolve) => probe.close(resolve));
      return wanted;
    } catch (error) {
      const fault = error as NodeJS.ErrnoException;
      if (port !== 0 || fault.code !== 'EADDRINUSE') throw explained(fault, host, port, variable);
    }
  }
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
function connectable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
