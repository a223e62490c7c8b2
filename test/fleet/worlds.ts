/** Runs a fleet in namespaces of its own, and removes its folder when all of it has ended. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { privateWorld } from './private-world.ts';

/** It also does so when this process is killed: then the fleet hears nothing any more, and ends. */
const thenRemove = ['sh', '-c', 'folder=$1; shift; "$@"; code=$?; rm -rf -- "$folder"; exit $code', 'sh'];

/** What runs in such a world: a program that reads one argument as JSON and writes its result as JSON. */
export interface Inside {
  main: string;
  argument: object;
  /** With everything of it. */
  folder: string;
}

/** @throws when it came to no end */
export async function runInside<Result>(inside: Inside, signal: AbortSignal, tell: (line: string) => void) {
  const { main, argument, folder } = inside;
  const [program, ...args] = [...thenRemove, folder, ...privateWorld, process.execPath, main, JSON.stringify(argument)];
  // Not in the group of this process: ^C is for this one alone, which ends the others in their order.
  const child = spawn(program!, args, { detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  const end = () => child.stdin.end();
  if (signal.aborted) end();
  signal.addEventListener('abort', end);
  const last: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    last.push(line);
    tell(line);
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  if (code !== 0) throw new Error(`a fleet ended with ${code}: ${last.slice(-20).join('\n')}`);
  return JSON.parse(output) as Result;
}

/** A folder that another user may pass through: as root, PostgreSQL runs as one. */
export async function worldFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'fleet-'));
  await chmod(folder, 0o711);
  return folder;
}
