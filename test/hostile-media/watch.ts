/** What the service's children open: strace(1) runs them, and this reads what it wrote. */
import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { findExecutable } from '../../src/children/bounded-command.ts';
import { atEnd } from '../support/at-end.ts';
import { until } from '../support/until.ts';
import { useFolder } from '../support/use-folder.ts';

/**
 * From now on, until the file's last test, every child of this process runs below strace: `setpriv`, which all of them
 * begin with, is found in PATH. strace stands beside them, in a process group of its own (`-DD`): they work only for a
 * parent that is the service, and one that the service kills has its end written down.
 * @throws where this machine does not let one process watch another
 */
export async function watchChildren() {
  const [setpriv, strace] = await Promise.all([findExecutable('setpriv'), findExecutable('strace')]);
  await promisify(execFile)(strace, ['-f', '--seccomp-bpf', '-e', 'trace=%file', 'true']);
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
  /** Of each child that ended since the last time this was called, what it had no business with. */
  return async (): Promise<string[][]> => {
    const children: string[][] = [];
    for (const name of await readdir(logs)) {
      const log = join(logs, name);
      // strace is told of a child's end after the service.
      children.push(
        strayedIn(
          await until(
            () => readFile(log, 'utf8'),
            (text) => text.endsWith('+++\n'),
          ),
        ),
      );
      await rm(log);
    }
    return children;
  };
}

/** Where programs, libraries and what those look at by themselves lie. The shell looks at where it is. */
const ownFiles = [
  /^\/(usr\/)?(s?bin|lib|lib32|lib64|libexec)\//,
  /^\/etc\/(ld\.so\.(cache|preload|nohwcap)|selinux\/config|gcrypt\/(fips_enabled|hwf\.deny)|gnutls\/config)$/,
  /^\/usr\/share\/locale(\/|$)/,
  /^\/proc\/(self\/.*|\d+\/status|cpuinfo|meminfo|filesystems|sys\/(kernel\/cap_last_cap|crypto\/fips_enabled|vm\/overcommit_memory))$/,
  /^\/sys\/(devices\/system\/(cpu|node)(\/.*)?|fs\/selinux)$/,
  /^\/(dev\/null|selinux)$/,
  /^[/.]?$/,
];

/** What may be asked of a file. Whatever else there is, it is for networks, other processes or changes. */
const looks = /^(open|openat|access|faccessat2?|stat|lstat|newfstatat|statx|statfs|readlink(at)?|execve|getcwd)$/;

/** Lines are `1234  openat(AT_FDCWD, "/etc/ld.so.cache", O_RDONLY|O_CLOEXEC) = 3`. */
function strayedIn(log: string): string[] {
  const calls = [...log.matchAll(/^\d+ +(\w+)\(.*$/gm)].map(([line, name]) => ({ line, name: name! }));
  // What the service itself asked for: `file:` is how ffmpeg is told.
  const programs = calls.filter(({ name }) => name === 'execve');
  const given = new Set(programs.flatMap(({ line }) => stringsIn(line).map((text) => text.replace(/^file:/, ''))));
  const isFine = ({ line, name }: (typeof calls)[number]) => {
    const [path = ''] = stringsIn(line);
    if (!looks.test(name)) return false;
    if (name === 'getcwd' || given.has(path)) return true;
    const isChanged = /O_WRONLY|O_RDWR|O_CREAT/.test(line) && path !== '/dev/null';
    return !isChanged && ownFiles.some((own) => own.test(path));
  };
  return calls.filter((call) => !isFine(call)).map(({ line }) => line);
}

const stringsIn = (line: string): string[] => [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text]) => text!);
