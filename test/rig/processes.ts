/** Living processes, their children, and theirs, as the kernel tells. */
import { readdirSync, readFileSync } from 'node:fs';
import { descendantsOf as descendantsAmong } from '../../scripts/bench/process-tree.ts';

export interface Process {
  pid: number;
  /** The program's name, 15 characters at most. */
  name: string;
  parent: number;
  /** Tells it from a later process with the same pid. */
  startTime: string;
}

export const livingProcesses = (): Process[] =>
  readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (look(Number(name)) ?? []) : []));

/** Living processes that began below this one. */
export const descendantsOf = (pid: number): Process[] => descendantsAmong(pid, livingProcesses());

export const isStillAlive = ({ pid, startTime }: Process): boolean => look(pid)?.startTime === startTime;

/** With its arguments; empty for one that is gone. */
export function commandOf({ pid }: Pick<Process, 'pid'>): string {
  return read(`/proc/${pid}/cmdline`)?.replaceAll('\0', ' ') ?? '';
}

const pidsAbout = (text: string, processes: Process[]) =>
  processes.filter((process) => commandOf(process).includes(text)).map(({ pid }) => pid);

/** Living processes that mention `text` on their command lines. */
export const processesAbout = (text: string): number[] => pidsAbout(text, livingProcesses());

/** Living children of a process that mention `text` on their command lines. */
export const childrenOf = (pid: number, text: string): number[] =>
  pidsAbout(text, livingProcesses().filter(({ parent }) => parent === pid)); // prettier-ignore

/** Nothing happens to one that is gone. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Nothing for one that is gone, or dead and not yet buried. See proc_pid_stat(5). */
function look(pid: number): Process | undefined {
  const stat = read(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  const nameEnd = stat.lastIndexOf(')');
  const fields = stat.slice(nameEnd + 2).split(' ');
  if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
  return { pid, name: stat.slice(stat.indexOf('(') + 1, nameEnd), parent: Number(fields[1]), startTime: fields[19]! };
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
