/**
 * Runs other people's tools as child processes. Their time is limited, and they are ended with everything that they
 * started.
 */
import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { delimiter, dirname } from 'node:path';

export interface CommandOptions {
  cwd: string;
  env: Record<string, string>;
  limitMs: number;
  /** Everything the command says is appended to it. */
  logFile: string;
  signal: AbortSignal;
}

export class CommandFailed extends Error {
  readonly output: string;
  /** Whether the program is not installed. */
  readonly isMissing: boolean;

  constructor(message: string, output = '', isMissing = false) {
    super(message);
    this.output = output;
    this.isMissing = isMissing;
  }
}

/**
 * @returns what the command wrote to standard output
 * @throws {CommandFailed} when it can't be started, ends with another code than 0, or takes too long
 */
export async function runCommand(command: readonly string[], options: CommandOptions): Promise<string> {
  const [program = '', ...args] = command;
  options.signal.throwIfAborted();
  // The Node.js of the project comes first: npm and the tools that it brings run on it.
  const path = `${dirname(process.execPath)}${delimiter}${process.env.PATH}`;
  const log = createWriteStream(options.logFile, { flags: 'a' });
  log.write(`\n$ ${command.join(' ')}\n`);
  // In a process group of its own, so that what it started can be ended with it.
  const child = spawn(program, args, {
    cwd: options.cwd,
    // No tool may send statistics: Spectral's installation would, by a package called scarf.
    env: { ...process.env, PATH: path, SCARF_ANALYTICS: 'false', DO_NOT_TRACK: '1', ...options.env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, output] = ['', ''];
  const collect = (text: string) => {
    log.write(text);
    output += text;
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    collect(text);
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', collect);

  const tooLate = AbortSignal.any([options.signal, AbortSignal.timeout(options.limitMs)]);
  const end = () => endGroup(child.pid);
  tooLate.addEventListener('abort', end);
  try {
    const code = await new Promise<number | string | null>((resolve, reject) => {
      child.once('error', (error: NodeJS.ErrnoException) =>
        reject(new CommandFailed(`${program} is not installed`, error.message, error.code === 'ENOENT')),
      );
      child.once('close', (exitCode, signal) => resolve(exitCode ?? signal));
    });
    if (code === 0) return stdout;
    const how = tooLate.aborted ? `did not end within ${options.limitMs / 1000} s` : `ended with ${code}`;
    throw new CommandFailed(`${program} ${how}: ${lastLine(output)}`, output);
  } finally {
    tooLate.removeEventListener('abort', end);
    log.end();
  }
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

export const lastLine = (text: string) => text.trim().split('\n').at(-1)!.trim().slice(0, 200);
