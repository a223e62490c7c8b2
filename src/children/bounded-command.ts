import { access, constants } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { DependencyError } from '../ops/dependency-error.ts';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** A program that should be installed isn't; the message names it and what to type. */
export class ExecutableNotFound extends DependencyError {
  override readonly name = 'ExecutableNotFound';

  constructor(executable: string) {
    super(`${executable} was not found. Install it: apt-get install ${debianPackages[executable] ?? executable}`);
  }
}

const debianPackages: Record<string, string> = {
  env: 'coreutils',
  ffmpeg: 'ffmpeg',
  prlimit: 'util-linux',
  setpriv: 'util-linux',
  sh: 'dash',
  unshare: 'util-linux',
};

/**
 * The absolute path of a program, looked up in the PATH of this process, since its children get no environment.
 * @throws {ExecutableNotFound}
 */
export async function findExecutable(name: string): Promise<string> {
  const folders = isAbsolute(name) ? [''] : (process.env['PATH'] ?? '').split(delimiter).filter(isAbsolute);
  for (const folder of folders) {
    const path = folder === '' ? name : join(folder, name);
    try {
      await access(path, constants.X_OK);
      return path;
    } catch {
      continue;
    }
  }
  throw new ExecutableNotFound(name);
}

/** What one child may use at most, enforced by the kernel (setrlimit(2)). */
export interface ChildLimits {
  /** Address space. Allocations beyond it fail. */
  memoryBytes: number;
  /** Processor time over all threads. Beyond it the child gets SIGXCPU, and 5 s later SIGKILL. */
  cpuSeconds: number | 'unlimited';
  /** Size of any file it writes (pipes don't count). Beyond it the child gets SIGXFSZ. */
  fileBytes: number;
  openFiles: number;
}

/**
 * The programs that {@link boundedCommand} puts before another, by their absolute paths.
 * @throws {ExecutableNotFound}
 */
export const findLimiters = () =>
  Promise.all([findExecutable('setpriv'), findExecutable('sh'), findExecutable('env'), findExecutable('prlimit')]);

/**
 * The command that runs a program below hard limits, without new privileges and, where the machine allows it, without
 * network. The program dies with the thread that starts this command (prctl(2), PR_SET_PDEATHSIG), which has to be one of
 * this process.
 * @param program name looked up in PATH, or an absolute path
 * @param isolation without it, the best that this machine allows
 * @throws {ExecutableNotFound} the program, one of the limiters or `unshare` is not installed
 */
export async function boundedCommand(
  program: string,
  args: readonly string[],
  limits: ChildLimits,
  isolation?: Isolation,
): Promise<[string, ...string[]]> {
  const path = await findExecutable(program);
  const [setpriv, sh, env, prlimit] = await findLimiters();
  const { cpuSeconds } = limits;
  // Each of these programs replaces itself by the next one, so there is one process with one pid.
  const command = [
    ...(await isolatingCommand(isolation ?? (await findIsolation()))),
    // After the namespaces, because a change of credentials may clear the signal.
    ...[setpriv, '--pdeathsig=KILL', '--no-new-privs'],
    // When the parent has died before this point, the signal will never come, so the shell checks its parent. `env -i`
    // removes what the shell adds to the environment.
    ...[sh, '-c', 'test "$PPID" = "$0" && exec "$@"', String(process.pid), env, '-i'],
    ...[
      prlimit,
      `--as=${limits.memoryBytes}`,
      `--fsize=${limits.fileBytes}`,
      `--nofile=${limits.openFiles}`,
      '--core=0',
    ],
    ...(cpuSeconds === 'unlimited' ? [] : [`--cpu=${cpuSeconds}:${cpuSeconds + 5}`]),
    ...[path, ...args],
  ];
  return command as [string, ...string[]];
}

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
async function isolatingCommand(isolation: Isolation): Promise<string[]> {
  return isolation === 'none' ? [] : [await findExecutable('unshare'), ...unshareArgs[isolation]];
}

/** Whether unshare(1) itself failed: messages of the program that it starts begin otherwise. */
export const isRefusedIsolation = (stderr: string): boolean => stderr.startsWith('unshare: ');
