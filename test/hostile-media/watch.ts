/** What the service's children open: strace(1) runs them, and this reads what it wrote. */
import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { findExecutable } from '../../src/children/bounded-command.ts';
import { atEnd } from '../support/at-end.ts';
import { until } from '../support/until.ts';
import { useFolder } from '../support/use-folder.ts';

const execute = promisify(execFile);

/** One child: how it was started, and what it asked the kernel for that it had no business with. */
export interface WatchedChild {
  /** The program with its arguments, after all that puts limits on it. */
  command: string;
  /** Calls that have to do with networks. */
  sockets: string[];
  /** Files beyond its input, its output, itself and its libraries, and files that it changed. */
  foreign: string[];
}

export type Watch = Awaited<ReturnType<typeof watchChildren>>;

/**
 * From now on, until the file's last test, every child of this process runs below strace: `setpriv`, which all of them
 * begin with, is found in PATH. strace stands beside them, in a process group of its own (`-DD`): they work only for a
 * parent that is the service, and one that the service kills has its end written down.
 * @throws where this machine does not let one process watch another
 */
export async function watchChildren() {
  const [setpriv, strace] = await Promise.all([findExecutable('setpriv'), findExecutable('strace')]);
  await execute(strace, ['-f', '--seccomp-bpf', '-e', 'trace=%file', 'true']).catch((error: Error) => {
    throw new Error(`strace can not watch processes on this machine, so nothing can be shown here: ${error.message}`);
  });
  const folder = useFolder();
  const logs = join(folder, 'logs');
  await mkdir(logs, { recursive: true });
  const calls = 'trace=%network,%file,io_uring_setup,ptrace,fork,vfork';
  const script = `#!/bin/sh\nexec ${strace} -DD -f --seccomp-bpf -s 4096 -e ${calls} -e signal=kill -o ${logs}/$$ ${setpriv} "$@"\n`;
  await writeFile(join(folder, 'setpriv'), script);
  await chmod(join(folder, 'setpriv'), 0o755);
  const path = process.env.PATH;
  process.env.PATH = [folder, path].join(delimiter);
  atEnd(() => void (process.env.PATH = path));
  return {
    /** Those that ended since the last time this was called. */
    async children(): Promise<WatchedChild[]> {
      const paths = (await readdir(logs)).map((name) => join(logs, name));
      // strace is told of a child's end after the service.
      const ended = (path: string) => until(() => readFile(path, 'utf8'), (text) => text.endsWith('+++\n')); // prettier-ignore
      const children: WatchedChild[] = [];
      for (const path of paths) {
        children.push(childIn(await ended(path)));
        await rm(path);
      }
      return children;
    },
  };
}

/** `setpriv`, `sh`, `env` and `prlimit` go before the program. */
const limiters = 4;

/** Where programs, libraries and what those look at by themselves lie. */
const ownFiles = [
  /^\/(usr\/)?(s?bin|lib|lib32|lib64|libexec)\//,
  /^\/etc\/(ld\.so\.(cache|preload|nohwcap)|selinux\/config|gcrypt\/(fips_enabled|hwf\.deny)|gnutls\/config)$/,
  /^\/usr\/share\/locale(\/|$)/,
  /^\/proc\/(self\/.*|\d+\/status|cpuinfo|meminfo|filesystems|sys\/(kernel\/cap_last_cap|crypto\/fips_enabled|vm\/overcommit_memory))$/,
  /^\/sys\/(devices\/system\/(cpu|node)(\/.*)?|fs\/selinux)$/,
  /^\/(dev\/null|selinux)$/,
];

/** Looked at by `sh`, and by nothing that comes after it. */
const whereTheShellIs = /^[/.]$/;

const looks = /^(open|openat|access|faccessat2?|stat|lstat|newfstatat|statx|statfs|readlink(at)?|execve|getcwd)$/;
const networkCalls =
  /^(socket(pair)?|connect|bind|listen|accept4?|sendto|sendmsg|sendmmsg|recv(from|msg|mmsg)|[gs]etsockopt|get(sock|peer)name|shutdown|io_uring_setup)$/;

/** Lines are `1234  openat(AT_FDCWD, "/etc/ld.so.cache", O_RDONLY|O_CLOEXEC) = 3`. */
function childIn(log: string): WatchedChild {
  const calls = [...log.matchAll(/^\d+ +(\w+)\((.*)$/gm)].map(([line, name, rest]) => ({
    line,
    name: name!,
    rest: rest!,
  }));
  const programs = calls.filter(({ name, rest }) => name === 'execve' && / = 0$/.test(rest));
  const command = argumentsOf(programs[limiters]?.rest ?? '');
  const ofLimiters = new Set(calls.slice(0, calls.indexOf(programs[limiters]!)));
  const isOneMore = (line: string) => programs.slice(limiters + 1).some((program) => program.line === line);
  // What the service itself asked for: `file:` is how ffmpeg is told.
  const given = new Set(command.slice(1).map((argument) => argument.replace(/^file:/, '')));
  const isGiven = (path: string) => given.has(path);
  const mayOpen = (path: string) => isGiven(path) || ownFiles.some((own) => own.test(path));
  const isFine = (call: (typeof calls)[number]) => {
    const { line, name, rest } = call;
    if (!looks.test(name) || isOneMore(line)) return false;
    const [path = ''] = argumentsOf(rest);
    if (/stat/.test(name) && ofLimiters.has(call) && whereTheShellIs.test(path)) return true;
    const changes = /O_WRONLY|O_RDWR|O_CREAT/.test(rest) && path !== '/dev/null';
    return (
      name === 'getcwd' || (path === '' && /AT_EMPTY_PATH/.test(rest)) || (changes ? isGiven(path) : mayOpen(path))
    );
  };
  const sockets = calls.filter(({ name }) => networkCalls.test(name));
  return {
    command: command.join(' '),
    sockets: sockets.map(({ line }) => line),
    foreign: calls.filter((call) => !sockets.includes(call) && !isFine(call)).map(({ line }) => line),
  };
}

/** The quoted strings of a call; of an execve its arguments, not its program again. */
function argumentsOf(rest: string): string[] {
  const strings = [...rest.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text]) => text!);
  return rest.includes('[') ? strings.slice(1) : strings;
}
