/** Machines with addresses of their own, each a network namespace, with a cable to one switch. */
import { execFile } from 'node:child_process';
import { readlinkSync, statSync } from 'node:fs';
import { promisify } from 'node:util';
import { livingProcesses } from './processes.ts';
import type { Place } from './place.ts';

const execute = promisify(execFile);
const ip = (...args: string[]) => execute('ip', args);

/** Where the clients are: at the switch itself. */
const clients = '10.99.0.1';
export const subnet = '10.99.0.0/24';

/** Only in a private world. */
export async function layNetwork(): Promise<void> {
  await ip('link', 'set', 'lo', 'up');
  await ip('link', 'add', 'switch', 'type', 'bridge');
  await ip('address', 'add', `${clients}/24`, 'dev', 'switch');
  await ip('link', 'set', 'switch', 'up');
}

/** @param number the last of the four of its address */
export async function addPlace(name: string, number: number): Promise<Place> {
  const address = `10.99.0.${number}`;
  await ip('netns', 'add', name);
  await ip('link', 'add', name, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
  await ip('link', 'set', name, 'master', 'switch', 'up');
  await ip('-netns', name, 'address', 'add', `${address}/24`, 'dev', 'eth0');
  await ip('-netns', name, 'link', 'set', 'eth0', 'up');
  await ip('-netns', name, 'link', 'set', 'lo', 'up');
  return {
    ...{ name, address, prefix: ['ip', 'netns', 'exec', name], pids: () => pidsIn(name) },
    cut: async () => void (await ip('link', 'set', name, 'down')),
    mend: async () => void (await ip('link', 'set', name, 'up')),
  };
}

function pidsIn(name: string): number[] {
  const network = `net:[${statSync(`/run/netns/${name}`).ino}]`;
  return livingProcesses()
    .map(({ pid }) => pid)
    .filter((pid) => networkOf(pid) === network);
}

function networkOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/net`);
  } catch {
    // It has ended.
    return undefined;
  }
}
