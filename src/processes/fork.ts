import cluster from 'node:cluster';
import { join } from 'node:path';
import type { Worker } from 'node:cluster';
import type { Half } from './child.ts';

const childMain = join(import.meta.dirname, '../start-child.ts');

/** A connection in the hands of this process. */
interface Connection {
  /** Does nothing when it was closed before. */
  close(): void;
}

/**
 * Starts a process whose servers share their ports with those of its siblings. New connections are dealt out to them in
 * turn (Node's cluster): the kernel's ways, one accept queue for all or one for each (`reusePort`), gave 27 of 32
 * connections of a burst to one of two processes, or lose what waits for a process that is killed.
 *
 * @returns a worker that gets no pid and soon emits 'error' where descriptors or processes have run out
 * @throws where memory has run out
 */
export function forkChild(half: Half): Worker {
  cluster.schedulingPolicy = cluster.SCHED_RR;
  cluster.setupPrimary({ exec: childMain, args: [half] });
  const child = cluster.fork();
  // Without a process there may be no channel either.
  if (child.process.pid !== undefined) closeWhatWasOnItsWay(child);
  return child;
}

/**
 * Node.js forgets the connection that it has just dealt to a process that dies: its client would wait for ever. There is
 * one at most, because a process gets the next when it has taken the one before.
 */
function closeWhatWasOnItsWay({ process }: Worker): void {
  let last: Connection | undefined;
  const send = process.send.bind(process) as (...args: unknown[]) => boolean;
  process.send = (...args: [unknown, unknown?, ...unknown[]]): boolean => {
    if (typeof args[1] === 'object') last = args[1] as Connection;
    return send(...args);
  };
  process.once('exit', () => last?.close());
}
