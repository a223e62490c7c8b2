import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findExecutable } from './executable.ts';

const execute = promisify(execFile);

/** What keeps children off every network, the loopback included. */
export type Isolation = 'user and network namespace' | 'network namespace' | 'none';

/**
 * Arguments of unshare(1). A new network namespace has nothing but a loopback that is down. A user namespace lets an
 * ordinary user make one. It also takes all capabilities from root's children: inside they are user 1, which has none;
 * outside they stay the service's user and may use its files.
 */
const unshareArgs: Record<Exclude<Isolation, 'none'>, readonly string[]> = {
  'user and network namespace': ['--user', '--map-user=1', '--map-group=1', '--net', '--'],
  // For root where user namespaces are off, or where the data lies in a folder that only root may enter.
  'network namespace': ['--net', '--'],
};

let found: Promise<Isolation> | undefined;

/**
 * The best isolation that this machine allows. It is tried once per process. Containers, Ubuntu's AppArmor and
 * `user.max_user_namespaces` may refuse namespaces; that is no error.
 * @param folder that the children must reach; only the folder of the first call counts
 */
export function findIsolation(folder = '/'): Promise<Isolation> {
  return (found ??= tryIsolation(folder));
}

async function tryIsolation(folder: string): Promise<Isolation> {
  for (const isolation of ['user and network namespace', 'network namespace'] as const) {
    try {
      const [unshare, ...args] = await isolatingCommand(isolation);
      await execute(unshare!, [...args, await findExecutable('test'), '-x', folder], { env: {}, timeout: 10_000 });
      return isolation;
    } catch {
      continue;
    }
  }
  return 'none';
}

/**
 * What to put in front of a command. It replaces itself by that command, so that there is one process with one pid.
 * @throws {ExecutableNotFound} `unshare`
 */
export async function isolatingCommand(isolation: Isolation): Promise<string[]> {
  return isolation === 'none' ? [] : [await findExecutable('unshare'), ...unshareArgs[isolation]];
}

/** Whether unshare(1) itself failed: messages of the program that it starts begin otherwise. */
export const isRefusedIsolation = (stderr: string): boolean => stderr.startsWith('unshare: ');
