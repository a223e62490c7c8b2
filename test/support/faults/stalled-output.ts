/** Programs whose standard output nobody reads, until a test begins to. */
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { ChildProcess, SpawnOptions } from 'node:child_process';
import type { Readable } from 'node:stream';

export interface StalledProgram {
  child: ChildProcess;
  /** Reads from now on. */
  lines: () => AsyncIterable<string>;
  /** Kills it, and stops reading. */
  end(): void;
}

export type OutputKind = 'pipe' | 'socket' | 'terminal';

/** @param command a program and its arguments; standard error goes where standard output goes, as `2>&1` does */
export function startUnread(kind: OutputKind, command: string[], options: SpawnOptions = {}): StalledProgram {
  if (kind === 'terminal') {
    // `script` makes the terminal. It stalls when nobody reads what it copies from there.
    const quoted = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
    return startUnread('pipe', ['script', '--quiet', '--return', '--flush', '--command', quoted, '/dev/null'], options);
  }
  const [program, ...args] = command;
  if (kind === 'socket') {
    // What Node.js calls a pipe is a pair of sockets on Linux; it reads from its own only when somebody listens.
    const child = spawn(program!, args, { ...options, stdio: ['ignore', 'pipe', 'ignore'] });
    return unread(child, child.stdout!);
  }
  const fifo = join(mkdtempSync(join(process.env.TEST_FOLDER!, 'unread-')), 'output');
  spawnSync('mkfifo', [fifo]);
  const reading = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
  const writing = openSync(fifo, 'w');
  const child = spawn(program!, args, { ...options, stdio: ['ignore', writing, writing] });
  closeSync(writing);
  return unread(child, new Socket({ fd: reading, readable: true, writable: false }).pause());
}

function unread(child: ChildProcess, output: Readable): StalledProgram {
  return {
    child,
    lines: () => linesOf(output),
    end() {
      child.kill('SIGKILL');
      output.destroy();
    },
  };
}

async function* linesOf(stream: Readable): AsyncIterable<string> {
  let rest = '';
  for await (const chunk of stream.setEncoding('utf8')) {
    const lines = (rest + String(chunk)).split(/\r?\n/);
    rest = lines.pop()!;
    yield* lines;
  }
}
