import { findExecutable } from './executable.ts';
import { findIsolation, isolatingCommand } from './isolation.ts';
import type { Isolation } from './isolation.ts';

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
export async function findLimiters() {
  const [setpriv, sh, env, prlimit] = await Promise.all([
    findExecutable('setpriv'),
    findExecutable('sh'),
    findExecutable('env'),
    findExecutable('prlimit'),
  ]);
  return { setpriv, sh, env, prlimit };
}

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
  const { setpriv, sh, env, prlimit } = await findLimiters();
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
